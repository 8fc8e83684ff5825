"""The table of support names only what the contract has; and the README tells the same."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from trainwright_api.checks import support
from trainwright_api.config import ModelConfig
from trainwright_api.config.tokenizers import TOKENIZERS
from trainwright_api.resource.backend import Backend, ProcessorName
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.schema.choice import Choice
from trainwright_api.schema.field_schema import FieldSchema, schema_of
from trainwright_api.schema.section import Section

README = Path(__file__).parents[3] / "README.md"


def schemas(schema: FieldSchema) -> Iterator[FieldSchema]:
    yield schema
    for part in (*schema.branches, *([schema.item] if schema.item else [])):
        yield from schemas(part)


def everything(root: type[Section], known: dict[type[Section], None], choices: dict[str, Choice]) -> None:
    """All sections below a root, and all choices by their nouns."""
    if root in known:
        return
    known[root] = None
    for info in root.model_fields.values():
        for schema in schemas(schema_of(info)):
            if schema.kind == "section":
                everything(schema.section, known, choices)
            if schema.choice is not None:
                choices[schema.choice.noun] = schema.choice
                for word in schema.choice.words:
                    everything(schema.choice.section(word), known, choices)


SECTIONS: dict[type[Section], None] = {}
KNOWN: dict[str, Choice] = {}
everything(TrainingJobSpec, SECTIONS, KNOWN)
BASES = [(base.__name__, name) for section in SECTIONS for base in section.__mro__ for name in section.model_fields]
FIELDS = {f"{base}.{name}" for base, name in BASES}
UNBUILT = [*support.INSTEAD, *(f"{section}.{name}" for section, names in support.FIELDS.items() for name in names)]


@pytest.mark.parametrize("field", [*UNBUILT, *support.WORDS])
def test_every_field_of_the_table_is_one_of_the_contract(field: str) -> None:
    assert field in FIELDS


@pytest.mark.parametrize("noun", support.CHOICES)
def test_every_choice_of_the_table_is_one_of_the_contract(noun: str) -> None:
    fitting = [choice for name, choice in KNOWN.items() if noun in (name, name.partition(" of ")[0])]
    known = {word for choice in fitting for word in choice.words}
    assert fitting
    assert set(support.CHOICES[noun]) <= known


@pytest.mark.parametrize("noun", sorted(KNOWN))
def test_what_stands_for_an_absent_type_is_built(noun: str) -> None:
    """Else a file that says nothing would ask for what there is not. Of a type that is not built, nothing is."""
    choice = KNOWN[noun]
    built = support.built_words(choice)
    assert not built or choice.default is None or choice.default in built


def test_each_word_list_is_of_words_that_its_field_takes() -> None:
    for section in SECTIONS:
        for name, info in section.model_fields.items():
            built = support.words_of(section, name)
            if built is not None and section is not Backend:
                words = {word for schema in schemas(schema_of(info)) for word in schema.words} or set(TOKENIZERS)
                assert words - set(built), f"{section.__name__}.{name} is built as a whole"


def test_the_model_config_itself_is_built() -> None:
    assert support.is_built(ModelConfig, "trainer")
    assert support.is_built(ModelConfig, "hyperopt")
    assert not support.is_built(ModelConfig, "base_model")


def row(name: str) -> tuple[set[str], set[str]]:
    """The words of a row of the README's table: what there is now, and what is not built."""
    line = next(line for line in README.read_text().splitlines() if line.startswith(f"| {name} |"))
    now, later = line.split("|")[2:4]
    return set(re.findall(r"[\w-]+", now)), set(re.findall(r"[\w-]+", later))


@pytest.mark.parametrize(
    ("name", "noun", "built"),
    [
        ("inputs", "input feature type", support.INPUTS),
        ("outputs", "output feature type", support.OUTPUTS),
        ("combiner", "combiner", support.COMBINERS),
        ("splits", "split", support.SPLITS),
    ],
)
def test_the_table_of_the_readme_is_this_one(name: str, noun: str, built: tuple[str, ...]) -> None:
    now, later = row(name)
    assert now == set(built)
    assert later == set(KNOWN[noun].words) - set(built)


def test_the_backends_of_the_readme_are_these() -> None:
    now, later = row("backends")
    assert set(support.BACKENDS) <= now
    assert set(get_args(ProcessorName)) <= now
    assert later == set()


def test_the_search_algorithms_of_the_readme_are_these() -> None:
    now, later = row("search")
    assert set(support.SEARCHES) - {"variant_generator"} <= now  # Ray's other name of random
    assert not later & set(support.SEARCHES)
