"""The schema of a field, read from its annotation."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.config import ModelConfig
from trainwright_api.resource.backend import Backend, BackendTrainer, Loader
from trainwright_api.resource.job import TrainingJob, TrainingJobSpec
from trainwright_api.resource.strategy import Strategy
from trainwright_api.schema.field_schema import FieldSchema, description_of, schema_of, sections_in
from trainwright_api.schema.section import Section


def schema(section: type[Section], name: str) -> FieldSchema:
    """The schema of a field."""
    return schema_of(section.model_fields[name])


@pytest.mark.parametrize(
    ("section", "name", "kind", "nullable"),
    [
        (Loader, "fully_executed", "flag", False),
        (Loader, "window_size_bytes", "integer", True),
        (Backend, "type", "words", False),
        (Backend, "loader", "section", False),
        (Backend, "credentials", "section", True),
        (BackendTrainer, "strategy", "union", True),
        (BackendTrainer, "resources_per_worker", "map", True),
        (TrainingJobSpec, "dataset", "text", True),
        (ModelConfig, "combiner", "choice", False),
        (ModelConfig, "input_features", "list", False),
    ],
)
def test_a_field_has_a_shape(section: type[Section], name: str, kind: str, nullable: bool) -> None:
    found = schema(section, name)
    assert (found.kind, found.nullable) == (kind, nullable)


def test_limits_are_found_wherever_they_are_written() -> None:
    assert schema(Loader, "window_size_bytes").limits == {"ge": 1, "le": 2**53}
    resources = schema(BackendTrainer, "resources_per_worker")
    assert resources.limits == {"max_length": 16}
    assert resources.item is not None
    assert resources.item.limits == {"ge": 0, "le": 1e15}


def test_sections_are_found_in_every_branch() -> None:
    assert list(sections_in(schema(BackendTrainer, "strategy"))) == [Strategy]


def everything(section: type[Section], seen: set[type[Section]]) -> None:
    """All sections that hang on one, through lists, unions and choices."""
    if section in seen:
        return
    seen.add(section)
    for info in section.model_fields.values():
        for below in sections_in(schema_of(info)):
            everything(below, seen)
        for choice in _choices(schema_of(info)):
            for word in choice.words:
                everything(choice.section(word), seen)


def _choices(found: FieldSchema) -> list[Any]:
    parts = [*found.branches, *([found.item] if found.item else [])]
    return [*([found.choice] if found.choice else []), *(choice for part in parts for choice in _choices(part))]


def test_every_field_of_the_contract_has_a_shape_and_a_description() -> None:
    sections: set[type[Section]] = set()
    everything(TrainingJob, sections)
    assert len(sections) > 200
    assert [(section.__name__, name) for section in sections for name, info in section.model_fields.items()
            if not description_of(info).endswith(".")] == []  # fmt: skip
    assert [section.__name__ for section in sections if not section.__doc__] == []
