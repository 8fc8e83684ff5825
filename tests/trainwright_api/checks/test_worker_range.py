"""A range of workers: only Ray has it, with a global batch that does not depend on the number of workers."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.checks.cluster import validate_job
from trainwright_api.checks.validate import Options, inspect
from trainwright_api.problems import Mistakes

RANGE = {"num_workers": {"min": 1, "max": 4}}
NUMBER = {"name": "delay", "type": "number"}
AUTO = (
    "config.trainer.effective_batch_size: auto follows the number of workers, and backend.trainer.num_workers is a "
    "range: give the rows of a global batch as a number"
)
ROOT = (
    "config.output_features[0].loss.type: root_mean_squared_error needs the whole global batch in one pass, which "
    "fewer workers may not do: give backend.trainer.num_workers a number"
)
ELSEWHERE = "backend.trainer.num_workers: a range acts with backend ray; horovod needs a number"


def job(trainer: Any, backend: Any = "ray", output: Any = None, **workers: Any) -> dict[str, Any]:
    config = {"input_features": [{"name": "size", "type": "number"}], "output_features": [output or NUMBER]}
    config |= {} if trainer is None else {"trainer": trainer}
    named = {} if backend is None else {"type": backend}
    spec = {
        "dataset": "s3://bucket/x.csv",
        "output": "s3://bucket/out",
        "config": config,
        "backend": {**named, "trainer": workers or RANGE},
    }
    kind = {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob"}
    return {**kind, "metadata": {"name": "job"}, "spec": spec}


def lines(raw: dict[str, Any], **options: Any) -> list[str]:
    return [str(problem) for problem in inspect(raw, "job.yaml", options=Options(**options)).mistakes]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        (job({"effective_batch_size": 64}), []),
        (job({"effective_batch_size": 64}, backend=None), []),
        (job(None), []),
        (job({"batch_size": 8}, num_workers=4), []),
        (job({"batch_size": 8}), [AUTO]),
        (job("ludwig"), [AUTO]),
        (job({"batch_size": 8}, backend=None), [AUTO]),
        (job({"effective_batch_size": 64}, "horovod"), [ELSEWHERE]),
        (
            job({"effective_batch_size": 64}, output={**NUMBER, "loss": {"type": "root_mean_squared_error"}}),
            [ROOT],
        ),
    ],
    ids=[
        "a number",
        "no backend",
        "the recipe",
        "no range",
        "auto",
        "Ludwig's",
        "auto, no backend",
        "horovod",
        "a root",
    ],
)
def test_a_file_and_the_webhook_say_the_same(raw: dict[str, Any], expected: list[str]) -> None:
    assert lines(raw) == expected
    found = validate_job(raw)
    assert (found.spec is not None) == (not expected)
    assert found.message == "\n".join(f"job: {line}" for line in expected)


def test_another_backend_of_the_command_line_needs_a_number() -> None:
    assert lines(job({"effective_batch_size": 64}), backend="horovod") == [ELSEWHERE]
    assert lines(job({"effective_batch_size": 64}), backend="local") == []


def test_a_range_is_no_matter_to_a_task_that_trains_nothing() -> None:
    raw = job(None)
    raw["spec"] |= {"task": "predict", "model": "s3://bucket/model"}
    del raw["spec"]["config"]
    assert lines(raw) == []


def test_the_line_is_a_mistake_of_the_file() -> None:
    with pytest.raises(Mistakes, match="effective_batch_size"):
        inspect(job({"batch_size": 8}), "job.yaml").accepted()
