from __future__ import annotations

from typing import Any

import pytest

from trainwright_operator.children import KINDS, child, kind_for
from trainwright_operator.children.kinds import kind_of

from .child_specs import BACKENDS, child_spec


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("named", [True, False])
def test_what_a_kind_builds_is_of_that_kind(backend: str, named: bool) -> None:
    made = dict(child(child_spec(backend)))
    assert made["kind"] == kind_for(backend).name
    if not named:  # as in the items of a list
        del made["kind"]
    assert kind_of(made) is kind_for(backend)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("processor", ["pandas", "dask", "modin"])
def test_the_kind_of_the_preprocess_stage_follows_from_the_processor(backend: str, processor: str) -> None:
    is_distributed = backend == "ray" and processor != "pandas"
    assert kind_for(backend, processor=processor) is kind_for("ray" if is_distributed else "local")
    if backend == "ray":
        made = child(child_spec(backend, stage="preprocess", backend_keys={"processor": {"type": processor}}))
        assert made["kind"] == kind_for(backend, processor=processor).name


def test_an_unknown_backend_which_only_an_invalid_job_has_counts_as_a_job() -> None:
    assert kind_for("no such backend") is kind_for("local")


@pytest.mark.parametrize(
    ("raw", "name"), [({"kind": "RayJob"}, "RayJob"), ({"kind": "Job"}, "Job"), ({}, "Job"), ({"kind": "Pod"}, None)]
)
def test_the_kind_of_an_object_without_a_spec(raw: dict[str, Any], name: str | None) -> None:
    found = kind_of(raw)
    assert (found and found.name) == name


def test_each_backend_belongs_to_one_kind() -> None:
    backends = [backend for kind in KINDS for backend in kind.backends]
    assert len(set(backends)) == len(backends)


def test_only_a_kind_that_is_not_part_of_kubernetes_can_be_missing() -> None:
    unknown = {kind.name for kind in KINDS}
    reasons = [missing.reason for kind in KINDS if (missing := kind.missing(unknown))]
    assert reasons == ["KubeRayMissing"]
    assert all(kind.missing(()) is None for kind in KINDS)
