"""The backend of a job whose file names none."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.resource.job import TrainingJobSpec
from trainwright_operator.policies.backend import backend_of, chosen, with_backend
from trainwright_operator.policies.gpus import held

from ..simulation import SPEC

OPEN: dict[str, Any] = {"trainer": {"num_workers": 2, "resources_per_worker": {"CPU": 3}}}


def spec_of(backend: dict[str, Any], **spec: Any) -> TrainingJobSpec:
    return TrainingJobSpec.model_validate({**SPEC, "backend": backend, **spec})


@pytest.mark.parametrize(
    ("spec", "missing", "expected"),
    [
        (spec_of(OPEN), (), "ray"),
        (spec_of(OPEN), ("RayJob",), "local"),
        (spec_of({}), (), None),
        (spec_of({"type": "horovod", **OPEN}), (), None),
        (spec_of(OPEN, task="preprocess"), (), None),
        (spec_of(OPEN, task="predict", model="s3://runs/a/model", config=None), (), "ray"),
    ],
    ids=["KubeRay", "no KubeRay", "no workers", "a type", "a task of one pod", "a task of a model"],
)
def test_workers_without_a_type_run_on_ray_where_it_is(
    spec: TrainingJobSpec, missing: tuple[str, ...], expected: str | None
) -> None:
    assert chosen(spec, missing) == expected


def test_only_ray_completes_the_spec() -> None:
    spec = spec_of(OPEN)
    assert with_backend(spec, "ray").backend.type == "ray"
    assert with_backend(spec, "local") is spec


def test_a_stored_job_has_the_backend_of_its_file_before_the_resolved_one() -> None:
    assert backend_of({"backend": {"type": "horovod"}}, {"backend": "ray"}) == "horovod"
    assert backend_of({"backend": OPEN}, {"backend": "ray"}) == "ray"
    assert backend_of({}, {}) == "local"


def test_the_gpus_of_the_pod_template_are_those_of_the_chosen_backend() -> None:
    spec = {"backend": OPEN, "podTemplate": {"resources": {"limits": {"nvidia.com/gpu": 1}}}}
    assert [held(spec, {"backend": name, "workers": 1, "gpus": 0}) for name in ("local", "ray")] == [1, 0]
