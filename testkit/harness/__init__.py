"""Full lifecycles of jobs with the operator in this process, and crashes of the operator at any write."""

from testkit.harness.end_state import end_state
from testkit.harness.jobs import EVERY_KIND, KINDS, Kind, training_job
from testkit.harness.leftovers import nothing_left, orphans
from testkit.harness.lifecycle import Lifecycle, Lived, User, live, live_under
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
