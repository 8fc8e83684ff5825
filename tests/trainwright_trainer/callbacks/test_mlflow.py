"""Runs on a real MLflow server, read back with MLflow's client."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.callbacks import tracker
from trainwright_trainer.errors import StoppedRun
from trainwright_trainer.job.job import read_job
from trainwright_trainer.job.options import Options
from trainwright_trainer.job.pod import Pod
from trainwright_trainer.runtime.signals import StopRequest
from trainwright_trainer.tasks.run import run as run_task
from trainwright_trainer.tasks.tracking_address import check_tracking

from .mlflow_server import mlflow_server

ODD = "späť (ms)"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with mlflow_server(tmp_path_factory.mktemp("mlflow")) as address:
        yield address


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine an answer may take a minute."""
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_TIMEOUT", "120")
    monkeypatch.setattr(tracker, "LAST_SECONDS", 600.0)


def client_of(address: str) -> Any:
    from mlflow.tracking import MlflowClient

    return MlflowClient(address)


def runs_of(address: str, experiment: str) -> list[Any]:
    client = client_of(address)
    return list(client.search_runs([client.get_experiment_by_name(experiment).experiment_id]))


def tracked(address: str, experiment: str, **trainer: Any) -> Any:
    """A change of the workplace's job."""

    def change(job: dict[str, Any]) -> None:
        job["callbacks"] = {"mlflow": {"trackingUri": address, "experimentName": experiment}}
        job["config"]["trainer"] |= trainer

    return change


def test_a_run_has_parameters_curves_and_files(workplace, server):
    workplace.job(tracked(server, "curves", epochs=3))
    out = workplace.done("train", "job.yaml", "--output", "out").out
    assert "mlflow" not in out
    assert out.splitlines()[-1].startswith("done in")
    (run,) = runs_of(server, "curves")
    assert (run.info.status, run.info.run_name) == ("FINISHED", "job")
    assert run.data.tags["trainwright.attempt"] == "1"
    assert run.data.tags["trainwright.model"] == "out/model"
    assert run.data.params["trainer.batch_size"] == "32"
    assert run.data.params["input.kind"] == "category, dense"
    client, metrics = client_of(server), json.loads((workplace.folder / "out/metrics.json").read_text())
    curve = client.get_metric_history(run.info.run_id, "validation/late/roc_auc")
    rounds = [(one["step"], one["scores"]["validation"]["late"]["roc_auc"]) for one in metrics["rounds"]]
    assert [(point.step, point.value) for point in curve] == rounds
    assert run.data.metrics["test/late/roc_auc"] == pytest.approx(metrics["end"]["test"]["late"]["roc_auc"])
    files = {file.path for file in client.list_artifacts(run.info.run_id)}
    assert files == {"report.html", "metrics.json", "resolved.json", "job.yaml"}
    report = client.download_artifacts(run.info.run_id, "report.html", str(workplace.folder))
    assert Path(report).read_bytes() == (workplace.folder / "out/report.html").read_bytes()


class Stopped(StopRequest):
    """A stop that is requested before the third step."""

    steps = 0

    def __bool__(self) -> bool:
        self.steps += 1
        self.reason = "the test" if self.steps > 2 else None
        return super().__bool__()


def test_all_attempts_of_a_job_are_one_run(workplace, server):
    workplace.job(tracked(server, "lineage", epochs=4))

    def attempt(number: int, stop: StopRequest) -> None:
        pod = Pod(number, "train", uid="0f9b-uid", run="out")
        run_task(None, Path("job.yaml"), Options(), pod=pod, stop=stop)

    with pytest.raises(StoppedRun):
        attempt(1, Stopped())
    (run,) = runs_of(server, "lineage")
    assert (run.info.status, run.data.tags["trainwright.uid"]) == ("KILLED", "0f9b-uid")
    attempt(2, StopRequest())
    (again,) = runs_of(server, "lineage")
    assert (again.info.run_id, again.info.status) == (run.info.run_id, "FINISHED")
    assert again.data.tags["trainwright.attempt"] == "2"


def test_a_run_of_this_machine_keeps_its_run_when_it_resumes_and_a_new_one_has_its_own(workplace, server):
    workplace.job(tracked(server, "local", epochs=1))
    workplace.done("train", "job.yaml", "--output", "out")
    workplace.job(tracked(server, "local", epochs=2))
    workplace.done("train", "job.yaml", "--output", "out", "--resume")
    (run,) = runs_of(server, "local")
    assert run.data.tags["trainwright.attempt"] == "2"
    workplace.done("train", "job.yaml", "--output", "out", "--overwrite")
    assert len(runs_of(server, "local")) == 2


def test_names_that_mlflow_does_not_accept_are_changed(workplace, server):
    def rename(job: dict[str, Any]) -> None:
        tracked(server, "names")(job)
        job["config"]["output_features"][0] |= {"name": ODD, "column": "late"}

    workplace.job(rename)
    out = workplace.done("train", "job.yaml", "--output", "out").out
    assert "mlflow" not in out
    assert out.splitlines()[-1].startswith("done in")
    (run,) = runs_of(server, "names")
    assert "test/sp__ _ms_/roc_auc" in run.data.metrics


def test_a_dead_server_fails_no_run(workplace):
    workplace.job(tracked("http://127.0.0.1:9", "dead"))
    lines = workplace.done("train", "job.yaml", "--output", "out").out.splitlines()
    told = [line for line in lines if "mlflow" in line]
    assert len(told) == 2
    assert told[0].startswith("mlflow is not reached, and training goes on: ")
    assert told[1].endswith("requests could not be sent")
    assert (workplace.folder / "out/model/model.json").is_file()


def test_an_address_and_the_library_are_needed(workplace, monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)
    # It is reported before the data are read.
    name = workplace.job(lambda job: job.update(callbacks={"mlflow": {}}, dataset="late.csv"))
    (workplace.folder / "late.csv").write_text("a,b\n1,2\n")
    line = workplace.refused("train", name, "--output", "out").replace(str(workplace.folder), "")
    assert "callbacks.mlflow.trackingUri: missing: name the server" in line
    job = read_job("train", Path(name), Options())
    check_tracking(job, {"MLFLOW_TRACKING_URI": "http://mlflow:5000"})
    monkeypatch.setattr("trainwright_trainer.tasks.tracking_address.find_spec", lambda _: None)
    with pytest.raises(Mistakes, match=r"pip install 'trainwright\[mlflow\]'"):
        check_tracking(job, {"MLFLOW_TRACKING_URI": "http://mlflow:5000"})
