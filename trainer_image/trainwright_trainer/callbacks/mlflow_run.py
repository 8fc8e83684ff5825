"""One run on an MLflow server, through MLflow's own client. Every method sends requests and may raise any exception."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

UID_TAG, ATTEMPT_TAG, MODEL_TAG = (f"trainwright.{word}" for word in ("uid", "attempt", "model"))
_PARAMETERS_AT_A_TIME, _METRICS_AT_A_TIME = 100, 1_000
"""Limits of a request, as MLflow documents them."""
_MAX_VALUE = 6_000
_OTHER = re.compile(r"[^\w\-./ ]", re.ASCII)
"""Characters that the name of a metric or of a parameter cannot have."""
_FINISHED, _KILLED = "FINISHED", "KILLED"


Round = tuple[int, Mapping[str, float], int]
"""A step, its scalars, and the milliseconds since 1970."""


class TrackedRun(Protocol):
    """A run as the sender sees it: the methods have the names of its messages. They may raise any exception."""

    def open(self, parameters: Mapping[str, Any], attempt: int) -> None: ...

    def log(self, rounds: Sequence[Round]) -> None: ...

    def artifacts(self, files: Mapping[str, str], model: str) -> None: ...

    def end(self, finished: bool) -> None: ...


class MlflowRun:
    """The run with the tag `trainwright.uid`, which all attempts of a job share. `open` finds it, or creates it."""

    def __init__(self, uri: str, experiment: str, uid: str, name: str) -> None:
        self._uri, self._experiment, self._uid, self._name = uri, experiment, uid, name
        self._client: Any = None
        self._run = ""

    def open(self, parameters: Mapping[str, Any], attempt: int) -> None:
        """Find the run of the job's earlier attempts, or create it, and send the parameters that it lacks."""
        from mlflow.entities import Param
        from mlflow.tracking import MlflowClient

        self._client = client = MlflowClient(self._uri)
        experiment = self._experiment_id(client)
        found = client.search_runs([experiment], f"tags.`{UID_TAG}` = '{self._uid}'", max_results=1)
        known: Mapping[str, str] = {}
        if found:
            self._run, known = found[0].info.run_id, found[0].data.params
            client.update_run(self._run, status="RUNNING")
        else:
            self._run = client.create_run(experiment, tags={UID_TAG: self._uid}, run_name=self._name).info.run_id
        # A run that was created may still lack parameters. It refuses another value of one that it has.
        named = {_name(name): str(value)[:_MAX_VALUE] for name, value in parameters.items()}
        values = [Param(name, value) for name, value in named.items() if name not in known]
        for start in range(0, len(values), _PARAMETERS_AT_A_TIME):
            client.log_batch(self._run, params=values[start : start + _PARAMETERS_AT_A_TIME])
        client.set_tag(self._run, ATTEMPT_TAG, str(attempt))

    def log(self, rounds: Sequence[Round]) -> None:
        """Add the values of these rounds to the curve of each scalar."""
        from mlflow.entities import Metric

        values = [
            Metric(_name(name), value, milliseconds, step)
            for step, scalars, milliseconds in rounds
            for name, value in scalars.items()
        ]
        for start in range(0, len(values), _METRICS_AT_A_TIME):
            self._client.log_batch(self._run, metrics=values[start : start + _METRICS_AT_A_TIME])

    def artifacts(self, files: Mapping[str, str], model: str) -> None:
        """Write files beside the run, and note the place of the model."""
        self._client.set_tag(self._run, MODEL_TAG, model)
        for name, text in files.items():
            self._client.log_text(self._run, text, name)

    def end(self, finished: bool) -> None:
        """Set the status: killed, if the attempt ends before its training does. A later attempt sets it anew."""
        status = _FINISHED if finished else _KILLED
        self._client.set_terminated(self._run, status, int(time.time() * 1000))

    def _experiment_id(self, client: Any) -> str:
        found = client.get_experiment_by_name(self._experiment)
        return str(found.experiment_id if found else client.create_experiment(self._experiment))


def _name(text: str) -> str:
    return _OTHER.sub("_", text)


def prepare_environment() -> None:
    """Settings that MLflow reads when it is imported.

    Requests are short, because a tracker repeats them itself. MLflow prints no links after the last line of the run.
    """
    for name, value in (
        ("MLFLOW_HTTP_REQUEST_TIMEOUT", "10"),
        ("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0"),
        ("MLFLOW_DISABLE_TELEMETRY", "true"),
        ("MLFLOW_SUPPRESS_PRINTING_URL_TO_STDOUT", "true"),
    ):
        os.environ.setdefault(name, value)


def is_refusal(error: Exception) -> bool:
    """True if the server would answer the same to the same request."""
    status = getattr(error, "get_http_status_code", lambda: 500)()
    return 400 <= status < 500 and status not in (408, 429)
