"""A job with an entrypoint: what it needs, and what does not act beside it."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.checks.entrypoint import score_attribute
from trainwright_api.checks.load import Options, loads
from trainwright_api.checks.validate import validate_document
from trainwright_api.problems import Mistakes

FUNCTION = {"module": "mine.train", "function": "main"}
IDLE = "does not act with an entrypoint: give the function what it needs in entrypoint.config"


def spec(**change: Any) -> dict[str, Any]:
    return {"entrypoint": FUNCTION, "backend": {"type": "ray", "trainer": {"num_workers": 2}}, **change}


def lines(**change: Any) -> list[str]:
    with pytest.raises(Mistakes) as found:
        validate_document(spec(**change), "job")
    return [str(problem) for problem in found.value.problems]


def test_a_function_needs_neither_config_nor_data() -> None:
    job = validate_document(spec(output="s3://bucket/runs", checkpoint={"numToKeep": 5}), "job").job
    assert job.spec.entrypoint is not None
    assert job.spec.entrypoint.function == "main"
    assert score_attribute(job.spec) is None


def test_any_reported_metric_may_rank_the_checkpoints() -> None:
    policy = {"scoreAttribute": "ptl/val_accuracy", "scoreOrder": "max"}
    loaded = validate_document(spec(checkpoint=policy), "job")
    assert score_attribute(loaded.job.spec) == "ptl/val_accuracy"
    assert loaded.notices == ()
    assert (
        score_attribute(validate_document(spec(checkpoint={"scoreAttribute": "val_loss"}), "job").job.spec)
        == "val_loss"
    )


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"task": "experiment"}, "task: experiment works on a config; an entrypoint has task train"),
        ({"dataset": "a.csv"}, f"dataset: {IDLE}"),
        ({"datasetOptions": {"delimiter": ";"}}, f"datasetOptions: {IDLE}"),
        ({"resumeFrom": "out/other"}, f"resumeFrom: {IDLE}"),
        ({"seed": 42}, f"seed: {IDLE}"),
        ({"cache": {"maxBytes": 10}}, f"cache: {IDLE}"),
        ({"report": {"maxSeconds": 1}}, f"report: {IDLE}"),
        ({"callbacks": {"mlflow": {}}}, f"callbacks: {IDLE}"),
        ({"backend": {"type": "ray", "cache_dir": "c"}}, f"backend.cache_dir: {IDLE}"),
        ({"backend": {"type": "ray", "processor": {"type": "dask"}}}, f"backend.processor: {IDLE}"),
        ({"backend": {"type": "ray", "loader": {"fully_executed": False}}}, f"backend.loader: {IDLE}"),
        ({"backend": {}}, "backend.type: an entrypoint runs under Ray Train: set ray, not local"),
        ({"backend": {"type": "horovod"}}, "backend.type: an entrypoint runs under Ray Train: set ray, not horovod"),
        (
            {"backend": {"type": "ray", "trainer": {"strategy": "ddp"}}},
            "backend.trainer.strategy: does not act with an entrypoint: the function chooses its strategy",
        ),
        (
            {"checkpoint": {"everySeconds": 5}},
            "checkpoint.everySeconds: does not act with an entrypoint: the function decides when it reports one",
        ),
        (
            {"checkpoint": {"scoreOrder": "max"}},
            "checkpoint.scoreOrder: orders by a score: set scoreAttribute to a metric that is reported",
        ),
    ],
)
def test_a_contradiction_is_one_line(change: dict[str, Any], line: str) -> None:
    assert lines(**change) == [line]


def test_empty_sections_contradict_nothing() -> None:
    validate_document(spec(cache={}, report={}, backend={"type": "ray", "loader": {}, "processor": {}}), "job")


def test_the_command_line_cannot_move_it_away_from_ray() -> None:
    text = "entrypoint: {module: m, function: f}\nbackend: {type: ray}"
    with pytest.raises(Mistakes, match="--backend: an entrypoint runs under Ray Train: ray, not local"):
        loads(text, "job.yaml", options=Options(backend="local"))
    assert (
        loads("entrypoint: {module: m, function: f}", "job", options=Options(backend="ray")).job.spec.backend.type
        == "ray"
    )
