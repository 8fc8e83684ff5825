"""Which form a file has, and what it is called."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.checks.forms import name_of, resource

FORMS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "a resource": ({"kind": "TrainingJob", "spec": {"dataset": "d"}}, {"dataset": "d"}),
    "a spec": ({"dataset": "d", "config": {}}, {"dataset": "d", "config": {}}),
    "a Ludwig config": ({"input_features": [], "trainer": {}}, {"config": {"input_features": [], "trainer": {}}}),
    "a Ludwig config with a misspelt key": (
        {"input_features": [], "output_features": [], "combinr": {}},
        {"config": {"input_features": [], "output_features": [], "combinr": {}}},
    ),
    "a Ludwig config with its backend": (
        {"input_features": [], "backend": {"type": "ray"}, "random_seed": 1},
        {"config": {"input_features": []}, "backend": {"type": "ray"}, "seed": 1},
    ),
    "a spec with sections of the config beside it": (
        {"dataset": "d", "config": {}, "trainer": {}, "combiner": {}},
        {"dataset": "d", "config": {}, "trainer": {}, "combiner": {}},
    ),
    "none of them": ({"whatever": 1}, {"whatever": 1}),
}


@pytest.mark.parametrize(("data", "spec"), FORMS.values(), ids=FORMS.keys())
def test_the_form_is_known_by_its_keys(data: dict[str, Any], spec: dict[str, Any]) -> None:
    assert resource(data, "job.yaml").data["spec"] == spec


def test_the_data_is_left_as_it_is() -> None:
    backend = {"type": "ray", "engine": {"type": "dask"}, "trainer": {"type": "ddp"}}
    data = {"dataset": "d", "config": {"backend": backend}}
    resource(data, "job.yaml")
    assert data == {"dataset": "d", "config": {"backend": backend}}
    assert backend == {"type": "ray", "engine": {"type": "dask"}, "trainer": {"type": "ddp"}}


def test_a_place_is_found_again_in_the_file() -> None:
    form = resource({"dataset": "d", "config": {"backend": {"engine": {"type": "x"}}}}, "job.yaml")
    assert form.origin(("spec", "backend", "type")) == ("spec", "config", "backend", "type")
    assert form.origin(("spec", "dataset")) == ("spec", "dataset")


def test_a_key_is_removed_once() -> None:
    form = resource({"dataset": "d", "config": {"input_features": [{"x": 1}]}}, "job.yaml")
    assert not form.upgraded
    assert form.remove(("spec", "config", "input_features", 0, "x"))
    assert (form.data["spec"]["config"], form.upgraded) == ({"input_features": [{}]}, True)
    assert not form.remove(("spec", "config", "input_features", 0, "x"))
    assert not form.remove(("spec", "config", "input_features", 1, "x"))


def test_keys_keep_their_order_when_they_are_renamed() -> None:
    form = resource({"config": {}, "backend": {"engine": {}, "type": "ray", "loader": {}}}, "job.yaml")
    assert list(form.data["spec"]["backend"]) == ["processor", "type", "loader"]


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("flights.yaml", "flights"),
        ("runs/My Job_2.yml", "my-job-2"),
        ("-.yaml", "job"),
        ("ÄÖ.yaml", "job"),
        (f"{'x' * 99}.yaml", "x" * 63),
    ],
)
def test_a_job_without_a_name_is_called_as_its_file(source: str, name: str) -> None:
    assert name_of(source) == name
