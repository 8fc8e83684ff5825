"""The reference page: complete, linked, and in words for people."""

from __future__ import annotations

import re

from trainwright_api.config import ModelConfig
from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.generate.reference import reference
from trainwright_api.resource.backend import BACKENDS, Backend, BackendTrainer, Loader, Processor
from trainwright_api.resource.job import TrainingJobSpec

PAGE = reference()


def test_every_field_has_its_row() -> None:
    for section in (TrainingJobSpec, Backend, BackendTrainer, Processor, Loader, ModelConfig, TrainerConfig):
        for key in section.known_keys():
            assert f"\n| `{key}` | " in PAGE, key


def test_every_row_says_what_the_field_does() -> None:
    rows = [re.split(r"(?<!\\)\|", line) for line in PAGE.splitlines() if line.startswith("| `")]
    assert len(rows) > 1000
    assert [row for row in rows if len(row) == 6 and not (row[2].strip() and row[4].strip())] == []


def test_every_link_leads_to_one_place() -> None:
    anchors = re.findall(r'<a id="([^"]+)">', PAGE)
    anchors += [re.sub(r"[^a-z0-9]+", "-", heading.lower()) for heading in re.findall(r"^## (.+)$", PAGE, re.MULTILINE)]
    assert len(anchors) == len(set(anchors))
    assert set(re.findall(r"\]\(#([^)]+)\)", PAGE)) <= set(anchors)


def test_the_table_of_backends_is_on_the_page() -> None:
    for name, acts in BACKENDS.items():
        assert f"| `{name}` | {', '.join(acts.sections)} | {', '.join(acts.strategies)} |" in PAGE


def test_no_word_of_python_is_on_the_page() -> None:
    assert not re.search(r"PydanticUndefined|<class|Annotated|Optional\[|<function|object at 0x", PAGE)
