"""The requests of a run, to a client in memory. test_mlflow.py has a real server."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from trainwright_trainer.callbacks.mlflow_run import MlflowRun


class Client:
    """A server with one experiment. The next `failures` batches get no answer."""

    def __init__(self) -> None:
        self.runs: list[Any] = []
        self.failures = 0

    def get_experiment_by_name(self, _name: str) -> Any:
        return SimpleNamespace(experiment_id="1")

    def search_runs(self, *_: Any, **__: Any) -> list[Any]:
        return list(self.runs)

    def create_run(self, *_: Any, **__: Any) -> Any:
        self.runs.append(SimpleNamespace(info=SimpleNamespace(run_id="r"), data=SimpleNamespace(params={})))
        return self.runs[0]

    def log_batch(self, _run: str, params: Any = ()) -> None:
        if self.failures:
            self.failures -= 1
            raise ConnectionError("timed out")
        for one in params:
            assert one.key not in self.runs[0].data.params
            self.runs[0].data.params[one.key] = one.value

    def update_run(self, *_: Any, **__: Any) -> None: ...

    def set_tag(self, *_: Any) -> None: ...


def test_parameters_whose_request_failed_are_sent_again_and_others_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """An attempt may end, or a request fail, between the start of a run and its parameters."""
    client = Client()
    monkeypatch.setattr("mlflow.tracking.MlflowClient", lambda _uri: client)
    run = MlflowRun("http://mlflow", "trainwright", "uid", "late")
    client.failures = 1
    with pytest.raises(ConnectionError):
        run.open({"seed": 1, "lr": 0.1}, 1)
    run.open({"seed": 1, "lr": 0.1}, 1)
    assert client.runs[0].data.params == {"seed": "1", "lr": "0.1"}
    run.open({"seed": 1, "lr": 0.2, "new": 3}, 2)
    assert client.runs[0].data.params == {"seed": "1", "lr": "0.1", "new": "3"}
