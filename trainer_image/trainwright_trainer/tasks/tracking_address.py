"""The address of a job's MLflow server. Without torch, so that a run looks at it before it reads data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from importlib.util import find_spec

from trainwright_api.problems import Mistakes
from trainwright_trainer.job.job import Job

_ADDRESS = "MLFLOW_TRACKING_URI"


def check_tracking(job: Job, environment: Mapping[str, str] = os.environ) -> None:
    """Raise `Mistakes` if the job names a server that has no address, or if the library is missing."""
    if job.spec.callbacks.mlflow is None:
        return
    if not tracking_address(job, environment):
        line = f"missing: name the server, as in http://mlflow:5000, or set {_ADDRESS}"
        raise Mistakes.one("callbacks.mlflow.trackingUri", line)
    if find_spec("mlflow") is None:
        raise Mistakes.one("callbacks.mlflow", "needs the library mlflow: pip install 'trainwright[mlflow]'")


def tracking_address(job: Job, environment: Mapping[str, str] = os.environ) -> str:
    """The address of the server that the job names, or that of the environment. Empty: there is none."""
    section = job.spec.callbacks.mlflow
    assert section is not None
    return section.tracking_uri or environment.get(_ADDRESS, "")
