"""Every rule of the upgrade: the old form, its successor, the notice, and nothing more when it is applied again."""

from __future__ import annotations

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
