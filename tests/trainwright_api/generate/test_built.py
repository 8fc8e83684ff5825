"""Unbuilt parts are marked in the reference and in `kubectl explain`."""

from __future__ import annotations

import re

import pytest

from trainwright_api.checks import support
from trainwright_api.config import ModelConfig
from trainwright_api.config.trainer import Profiler, TrainerConfig
from trainwright_api.generate.built import NOT_BUILT, built_sections, lack_of
from trainwright_api.generate.reference import reference
from trainwright_api.generate.schema import strict
from trainwright_api.resource.backend import Backend, BackendTrainer, Loader
from trainwright_api.resource.job import TrainingJob, TrainingJobSpec
from trainwright_api.schema.section import Section

PAGE = reference()


@pytest.mark.parametrize(
    ("section", "field", "words"),
    [
        (ModelConfig, "hyperopt", ""),
        (Loader, "fully_executed", ""),
        (Backend, "type", ""),
        (BackendTrainer, "strategy", ""),
        (TrainerConfig, "learning_rate", "Not built yet: auto."),
        (TrainerConfig, "epochs", ""),
        (TrainingJobSpec, "task", ""),
    ],
)
def test_the_words_for_a_field(section: type[Section], field: str, words: str) -> None:
    assert lack_of(section, field) == words


def test_of_a_choice_the_words_that_are_not_built_are_reported() -> None:
    line = lack_of(TrainerConfig, "optimizer")
    assert "lbfgs" in line
    assert "adam," not in line.removeprefix("Not built yet: ").split()


def test_a_section_that_only_what_is_not_built_leads_to_is_not_built() -> None:
    built = built_sections(TrainingJob)
    assert {ModelConfig, TrainerConfig, Backend} <= built
    assert Profiler not in built


@pytest.mark.parametrize("word", ["audio", "timeseries", "h3"])
def test_a_type_that_is_not_built_is_marked_in_the_reference(word: str) -> None:
    assert re.search(rf"### input feature: {word}\n\n[^\n]+ \*\*{NOT_BUILT}\*\*\n", PAGE)


@pytest.mark.parametrize("word", support.INPUTS)
def test_a_type_that_is_built_is_not_marked(word: str) -> None:
    heading = PAGE.partition(f"### input feature: {word}\n\n")[2].partition("\n")[0]
    assert heading
    assert "ot built" not in heading


def test_the_table_of_backends_says_what_acts() -> None:
    assert "| `local` | cache, loader | single |" in PAGE
    assert re.search(r"\| `ray` \|.* ddp, fsdp, deepspeed, horovod \|", PAGE)


def test_kubectl_explain_shows_it_too() -> None:
    fields = strict(TrainingJobSpec)["properties"]
    assert fields["config"]["properties"]["base_model"]["description"].endswith(NOT_BUILT)
