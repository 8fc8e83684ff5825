"""Properties of every section of the contract."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, get_args

import pytest

from trainwright_api.config import ModelConfig
from trainwright_api.config.adapters import ADAPTER
from trainwright_api.config.augmentation import AUGMENTATION
from trainwright_api.config.combiners import COMBINER
from trainwright_api.config.data import SPLIT
from trainwright_api.config.decoders import DECODERS
from trainwright_api.config.encoders import ENCODERS, encoder_choice
from trainwright_api.config.hyperopt import EXECUTOR
from trainwright_api.config.hyperopt.parameter import PARAMETER
from trainwright_api.config.hyperopt.scheduler import SCHEDULER
from trainwright_api.config.hyperopt.search import SEARCH
from trainwright_api.config.losses import LOSSES
from trainwright_api.config.outputs_tokens import TEXT_DECODER
from trainwright_api.config.trainer import OPTIMIZER
from trainwright_api.schema.choice import Choice
from trainwright_api.schema.section import Section

NEEDS: dict[str, dict[str, Any]] = {
    "auto_transformer": {"pretrained_model_name_or_path": "x"},
    "llm": {"base_model": "x"},
    "comparator": {"entity_1": ["a"], "entity_2": ["b"]},
    "hash": {"column": "a"},
    "stratify": {"column": "a"},
    "datetime": {"column": "a"},
    "choice": {"categories": [1]},
    "grid_search": {"values": [1]},
    **{word: {"lower": 1.0, "upper": 2.0} for word in ("uniform", "loguniform")},
    **{word: {"lower": 1.0, "upper": 2.0, "q": 0.5} for word in ("quniform", "qloguniform")},
    **{word: {"lower": 1, "upper": 2} for word in ("randint", "lograndint")},
    **{word: {"lower": 1, "upper": 2, "q": 1} for word in ("qrandint", "qlograndint")},
    "qrandn": {"q": 0.5},
}
"""The keys that must be given beside the word."""

CHOICES = [
    *(encoder_choice(kind) for kind in ENCODERS),
    *(Choice(f"decoder of {kind}", "trainwright_api.config", DECODERS[kind]) for kind in DECODERS),
    *(Choice(f"loss of {kind}", "trainwright_api.config", LOSSES[kind]) for kind in LOSSES),
    *(COMBINER, OPTIMIZER, SPLIT, AUGMENTATION, ADAPTER, SEARCH, SCHEDULER, PARAMETER, EXECUTOR),
]
WORDS = [pytest.param(choice, word, id=f"{choice.noun}: {word}") for choice in CHOICES for word in choice.words]


def sections() -> Iterator[type[Section]]:
    """Every section class of the config that is loaded."""
    for choice in CHOICES:
        for word in choice.words:
            choice.section(word)
    waiting: list[type[Section]] = [Section]
    seen: set[type[Section]] = set()
    while waiting:
        for section in waiting.pop().__subclasses__():
            if section not in seen and section.__module__.startswith("trainwright_api.config"):
                seen.add(section)
                yield section
            waiting.append(section)


@pytest.mark.parametrize(("choice", "word"), WORDS)
def test_each_word_stands_for_a_section(choice: Choice, word: str) -> None:
    section = choice.read({choice.key: word, **NEEDS.get(word, {})})
    assert type(section) is choice.section(word)
    assert getattr(section, choice.key) == word
    assert word in get_args(type(section).model_fields[choice.key].annotation)


@pytest.mark.parametrize(("choice", "word"), WORDS)
def test_each_section_survives_being_written_and_read(choice: Choice, word: str) -> None:
    section = choice.read({choice.key: word, **NEEDS.get(word, {})})
    assert choice.read(json.loads(section.model_dump_json())) == section


@pytest.mark.parametrize(("choice", "word"), WORDS)
def test_each_section_refuses_an_unknown_key_and_a_wrong_kind(choice: Choice, word: str) -> None:
    value = {choice.key: word, **NEEDS.get(word, {}), "no_such_key": 1}
    with pytest.raises(ValueError, match="unknown key"):
        choice.read(value)


@pytest.mark.parametrize("section", sorted(sections(), key=str))
def test_each_field_has_one_sentence_for_the_reference(section: type[Section]) -> None:
    assert section.__doc__
    for name, field in section.model_fields.items():
        assert field.description, f"{section.__name__}.{name}"
        assert field.description.endswith("."), f"{section.__name__}.{name}"
        assert len(field.description) <= 120, f"{section.__name__}.{name}"


def test_the_whole_has_a_json_schema() -> None:
    text = json.dumps(ModelConfig.model_json_schema())
    for name in ("NumberInput", "BERTEncoder", "TaggerDecoder", "Corn", "TabNetCombiner", "LBFGS", "HyperoptConfig"):
        assert f'"title": "{name}"' in text


def test_a_text_output_may_have_two_decoders() -> None:
    assert TEXT_DECODER.words == ("generator", "tagger")
