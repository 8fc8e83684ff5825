"""What has to be settled before Ray is imported: it reads its environment then."""

from __future__ import annotations

from collections.abc import MutableMapping

_SETTLED = {
    # No report to Ray's makers, which nobody has asked for.
    "RAY_USAGE_STATS_ENABLED": "0",
    # Under `uv run` it would pack the working folder and build an environment from it for every worker.
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
    # In milliseconds; a busy machine takes longer to start Ray's helpers than the fifteen seconds that are its own.
    "RAY_agent_register_timeout_ms": "120000",
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    # Paths count from the driver's folder, in workers too.
    "RAY_CHDIR_TO_TRIAL_DIR": "0",
    "RAY_TRAIN_METRICS_ENABLED": "0",
    # How often, in seconds, it looks whether workers live, and have ended.
    "RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "0.5",
}


def settle(environment: MutableMapping[str, str]) -> None:
    """What the user has settled stays."""
    for name, value in _SETTLED.items():
        environment.setdefault(name, value)
