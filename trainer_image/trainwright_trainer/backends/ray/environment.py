"""The environment of the processes: variables that Ray reads on import, so before it, and the working folder."""

from __future__ import annotations

import os
from collections.abc import MutableMapping

# The variable with which a user requests Ray Train's metrics of each worker.
METRICS = "RAY_TRAIN_METRICS_ENABLED"
_SETTLED = {
    # No usage report to the makers of Ray.
    "RAY_USAGE_STATS_ENABLED": "0",
    # Under `uv run`, Ray would pack the working folder and build an environment from it for every worker.
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    # In milliseconds. A busy machine takes longer to start Ray's agents than the default of fifteen seconds.
    "RAY_agent_register_timeout_ms": "120000",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # Relative paths start at the driver's folder, in workers too.
    "RAY_CHDIR_TO_TRIAL_DIR": "0",
    METRICS: "0",
    "RAY_AIR_NEW_OUTPUT": "0",
    # Ray would also write each line that a train function prints to its log, and so print it twice.
    "RAY_TRAIN_ENABLE_PRINT_PATCH": "0",
    # A trial that fails reports no score. That ends the trial and not the search.
    "TUNE_DISABLE_STRICT_METRIC_CHECKING": "1",
    # Ray Tune writes no logs of its own, and leaves Ctrl-C to the run.
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    "TUNE_DISABLE_SIGINT_HANDLER": "1",
    # The interval, in seconds, at which Ray Train polls its workers.
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.5",
}


def settle(environment: MutableMapping[str, str]) -> None:
    """Set the variables that the user has not set. Metrics come with the page of Ray's dashboard that shows them."""
    if environment.get(METRICS) == "1":
        environment.setdefault("RAY_TRAIN_ENABLE_STATE_TRACKING", "1")
    for name, value in _SETTLED.items():
        environment.setdefault(name, value)


def enter(folder: str) -> None:
    """Let relative paths start at the driver's folder. A node whose image differs from the driver's may lack it."""
    if os.path.isdir(folder):
        os.chdir(folder)
