"""Full lifecycles of jobs with the operator in this process, and crashes of the operator at any write."""

from testkit.harness.end_state import end_state, nothing_left, orphans
from testkit.harness.jobs import EVERY_KIND, KINDS, Kind, training_job
from testkit.harness.lifecycle import Lifecycle, LifecycleResult, User, run_lifecycle, run_lifecycle_under
from testkit.harness.lifecycles import LIFECYCLES
from testkit.harness.operators import FAST, Operators
from testkit.harness.staged import STAGED
from testkit.harness.writes import Crash, Kill, Writes

__all__ = [
    "EVERY_KIND",
    "FAST",
    "KINDS",
    "LIFECYCLES",
    "STAGED",
    "Crash",
    "Kill",
    "Kind",
    "Lifecycle",
    "LifecycleResult",
    "Operators",
    "User",
    "Writes",
    "end_state",
    "nothing_left",
    "orphans",
    "run_lifecycle",
    "run_lifecycle_under",
    "training_job",
]
