"""The variables that are set for Ray, and those that a user has set."""

from __future__ import annotations

import pytest

from trainwright_trainer.backends.ray.environment import METRICS, settle

TRACKING = "RAY_TRAIN_ENABLE_STATE_TRACKING"


def test_a_variable_of_the_user_is_kept() -> None:
    environment = {"RAY_TRAIN_HEALTH_CHECK_INTERVAL_S": "2"}
    settle(environment)
    assert environment["RAY_TRAIN_HEALTH_CHECK_INTERVAL_S"] == "2"
    assert environment["RAY_USAGE_STATS_ENABLED"] == "0"


@pytest.mark.parametrize(
    ("given", "tracked"),
    [
        ({}, None),
        ({METRICS: "0"}, None),
        ({METRICS: "1"}, "1"),
        ({METRICS: "1", TRACKING: "0"}, "0"),
    ],
)
def test_metrics_are_off_until_they_are_requested_and_come_with_the_page_of_the_runs(
    given: dict[str, str], tracked: str | None
) -> None:
    environment = dict(given)
    settle(environment)
    assert environment[METRICS] == given.get(METRICS, "0")
    assert environment.get(TRACKING) == tracked
