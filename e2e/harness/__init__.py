"""Full lifecycles of jobs with the operator in this process, and crashes of the operator at any write."""

from e2e.harness.end_state import end_state
from e2e.harness.jobs import EVERY_KIND, KINDS, Kind, training_job
from e2e.harness.leftovers import nothing_left, orphans
from e2e.harness.lifecycle import Lifecycle, Lived, User, live, live_under
from e2e.harness.lifecycles import LIFECYCLES
from e2e.harness.operators import FAST, Operators
from e2e.harness.phased import PHASED
from e2e.harness.writes import Crash, Kill, Writes

__all__ = [
    "EVERY_KIND",
    "FAST",
    "KINDS",
    "LIFECYCLES",
    "PHASED",
    "Crash",
    "Kill",
    "Kind",
    "Lifecycle",
    "Lived",
    "Operators",
    "User",
    "Writes",
    "end_state",
    "live",
    "live_under",
    "nothing_left",
    "orphans",
    "training_job",
]
