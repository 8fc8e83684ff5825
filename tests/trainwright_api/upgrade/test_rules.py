"""Every rule of the upgrade: the old form, its successor, the notice, and nothing more when it is applied again."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.trainwright_api.upgrade.cases import BACKENDS, CASES

from trainwright_api.checks.forms import resource
from trainwright_api.checks.validate import inspect

BASE = {
    "input_features": [{"name": "a", "type": "number"}],
    "output_features": [{"name": "b", "type": "number"}],
}


def config_of(spec: dict[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """The config of a spec after the upgrade, and the notices."""
    form = resource({"dataset": "d", **spec}, "old.yaml")
    assert form.problems == []
    return form.data["spec"]["config"], form.notices


@pytest.mark.parametrize(("old", "new", "notices"), CASES.values(), ids=CASES.keys())
def test_an_old_form_is_read_as_its_successor(
    old: dict[str, Any], new: dict[str, Any], notices: tuple[str, ...]
) -> None:
    config, lines = config_of({"config": deepcopy(old)})
    assert (config, tuple(lines)) == (new, notices)
    assert config_of({"config": config}) == (new, [])


@pytest.mark.parametrize("name", CASES)
def test_the_successor_is_valid(name: str) -> None:
    old, new, _ = CASES[name]
    found = inspect({"dataset": "d", "config": {**BASE, **deepcopy(old)}}, "old.yaml")
    assert found.mistakes == ()
    assert found.loaded is not None
    assert found.loaded.job == valid_job({**BASE, **new})


def valid_job(config: dict[str, Any]) -> Any:
    """The job of a config without old forms."""
    found = inspect({"dataset": "d", "config": config}, "old.yaml")
    assert found.loaded is not None
    assert not found.loaded.upgraded
    return found.loaded.job


@pytest.mark.parametrize(("old", "new", "notices"), BACKENDS.values(), ids=BACKENDS.keys())
def test_an_old_backend_is_read_as_its_successor(old: Any, new: dict[str, Any], notices: tuple[str, ...]) -> None:
    form = resource({"dataset": "d", "config": BASE, "backend": deepcopy(old)}, "old.yaml")
    assert (form.data["spec"]["backend"], tuple(form.notices), form.problems) == (new, notices, [])
    again = resource(form.data, "old.yaml")
    assert (again.data, again.notices) == (form.data, [])


def merged(base: Any, more: Any) -> Any:
    """Two parts of a config as one; `more` has priority."""
    if isinstance(base, dict) and isinstance(more, dict):
        return {**base, **{key: merged(base.get(key), value) for key, value in more.items()}}
    if isinstance(base, list) and isinstance(more, list) and isinstance(base[0], dict):
        return [*more, *[{**item, "name": f"x{at}"} for at, item in enumerate(base)]]
    return more


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(sorted(CASES)), min_size=1, max_size=6))
def test_an_upgraded_config_upgrades_to_itself(names: list[str]) -> None:
    config: dict[str, Any] = {}
    for name in names:
        config = merged(config, deepcopy(CASES[name][0]))
    first = resource({"dataset": "d", "config": config}, "old.yaml")
    again = resource(first.data, "old.yaml")
    assert (again.data, again.notices, again.problems) == (first.data, [], [])


ODD: tuple[Any, ...] = (None, [], {}, "x", 1.5, True, [1], {"a": 1}, [{"type": [1]}], float("inf"))


def mutated(value: Any, odd: Any) -> Iterator[Any]:
    """The value with each of its parts replaced by an odd one."""
    yield odd
    if isinstance(value, dict):
        for key, item in value.items():
            yield from ({**value, key: other} for other in mutated(item, odd))
    if isinstance(value, list):
        for at, item in enumerate(value):
            yield from ([*value[:at], other, *value[at + 1 :]] for other in mutated(item, odd))


@pytest.mark.parametrize("name", CASES)
def test_a_malformed_old_form_is_left_to_the_validation(name: str) -> None:
    for odd in ODD:
        for config in mutated(CASES[name][0], odd):
            form = resource({"dataset": "d", "config": config, "backend": odd}, "old.yaml")
            assert resource(form.data, "old.yaml").data == form.data


@pytest.mark.parametrize("name", BACKENDS)
def test_a_malformed_old_backend_is_left_to_the_validation(name: str) -> None:
    for odd in ODD:
        for backend in mutated(BACKENDS[name][0], odd):
            form = resource({"dataset": "d", "config": BASE, "backend": backend}, "old.yaml")
            assert resource(form.data, "old.yaml").data == form.data


REFUSED = {
    "both spellings": (
        {"training": {"epochs": 1}, "trainer": {"epochs": 2}},
        "config.training: the old spelling of trainer, which is given too: keep trainer",
    ),
    "both splits": (
        {"preprocessing": {"split": {"type": "random"}, "force_split": True}},
        "config.preprocessing.force_split: the old spelling of split, which is given too: keep split",
    ),
    "both betas": (
        {"trainer": {"optimizer": {"type": "adam", "beta_1": 0.5, "betas": [0.9, 0.9]}}},
        "config.trainer.optimizer.beta_1: the old spelling of betas, which is given too: keep betas",
    ),
    "a size that depends on an open batch size": (
        {"combiner": {"type": "tabnet", "bn_virtual_divider": 4}},
        "config.combiner.bn_virtual_divider: needs a number as config.trainer.batch_size: give bn_virtual_bs, the rows "
        "of a virtual batch",
    ),
    "two sizes of a virtual batch": (
        {"combiner": {"type": "tabnet", "bn_virtual_divider": 4, "bn_virtual_bs": 5}, "trainer": {"batch_size": 256}},
        "config.combiner.bn_virtual_divider: the old spelling of bn_virtual_bs, which is given too: keep bn_virtual_bs",
    ),
    "a trainer of large language models": (
        {"trainer": {"type": "dpo", "epochs": 1}},
        "config.trainer.type: not built yet: dpo (a trainer of large language models)",
    ),
    "the dropout of all layers": (
        {"trainer": {"dropout_rate": 0.2}},
        "config.trainer.dropout_rate: not read any more: set dropout in the encoders, the combiner and the decoders",
    ),
}


@pytest.mark.parametrize(("config", "line"), REFUSED.values(), ids=REFUSED.keys())
def test_what_has_no_single_successor_is_one_mistake(config: dict[str, Any], line: str) -> None:
    found = inspect({"dataset": "d", "config": {**BASE, **config}}, "old.yaml")
    assert [str(problem) for problem in found.mistakes] == [line]
