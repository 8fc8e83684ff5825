from __future__ import annotations

import pytest

from trainwright_api.resource.status import Condition, TrainingJobStatus
from trainwright_operator.policies.display import phase


@pytest.mark.parametrize(
    ("conditions", "word"),
    [
        ([], "Pending"),
        ([("Accepted", "False", "Invalid")], "Invalid"),
        ([("Accepted", "True", "Accepted")], "Pending"),
        ([("Running", "False", "Queued")], "Queued"),
        ([("Running", "False", "WaitsInQueue")], "Queued"),
        ([("Running", "False", "Invalid"), ("Accepted", "False", "Invalid")], "Invalid"),
        ([("Running", "False", "ForbiddenByPolicy"), ("Accepted", "False", "ForbiddenByPolicy")], "Invalid"),
        ([("Running", "False", "Starting")], "Starting"),
        ([("Running", "False", "CannotStart")], "Starting"),
        ([("Running", "False", "BackOff")], "Pending"),
        ([("Running", "True", "Running"), ("Accepted", "False", "ChangedAfterStart")], "Running"),
        ([("Running", "True", "Stopping")], "Stopping"),
        ([("Running", "False", "Suspended"), ("Suspended", "True", "Suspended")], "Suspended"),
        ([("Running", "False", "Complete"), ("Complete", "True", "Done")], "Complete"),
        ([("Suspended", "False", "Resumed"), ("Failed", "True", "Mistake")], "Failed"),
    ],
)
def test_the_phase_is_read_from_the_conditions(conditions: list[tuple[str, str, str]], word: str) -> None:
    given = [
        Condition(type=kind, status=status, reason=reason, message="", last_transition_time="2026-11-21T12:00:00Z")  # type: ignore[arg-type]
        for kind, status, reason in conditions
    ]
    assert phase(TrainingJobStatus(conditions=given)) == word
