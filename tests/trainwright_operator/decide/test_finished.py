"""A job after its end: the time to live, and the children that are left."""

from __future__ import annotations

from trainwright_operator.decide.plan import plan

from ..simulation import SETTINGS
from .scenario import running


def test_the_time_to_live_removes_what_the_job_has_started() -> None:
    cluster = running(ttlSecondsAfterFinished=60)
    cluster.ends()
    cluster.settle()
    assert cluster.children
    cluster.wait(60)
    cluster.settle()
    assert not cluster.children
    assert not cluster.shared
    assert (cluster.status.phase, cluster.status.child, cluster.deleted) == ("Complete", None, False)


def test_the_time_to_live_removes_the_job_where_its_policy_says_so() -> None:
    cluster = running(ttlSecondsAfterFinished=0, ttlPolicy="DeleteJob")
    cluster.ends()
    cluster.run()
    cluster.run()
    assert cluster.deleted


def test_the_last_child_of_a_finished_job_is_asked_for_before_it_is_deleted() -> None:
    """An old list may still show the child as running, and its logs must be kept."""
    cluster = running()
    before = cluster.child
    cluster.ends()
    cluster.settle()
    cluster.children[before.name] = before
    (lookup,) = plan(cluster.job(), cluster.snapshot(), SETTINGS, cluster.now).lookups
    assert (lookup.target, lookup.name) == ("child", before.name)


def test_a_finished_job_never_leaves_its_end() -> None:
    cluster = running()
    cluster.ends(exit_code=2)
    cluster.settle()
    end = cluster.status
    cluster.change(suspend=True, backoffLimit=9)
    cluster.children.clear()
    cluster.settle()
    seen = {"observed_generation": 2}
    conditions = [condition.model_copy(update=seen) for condition in end.conditions or []]
    assert cluster.status == end.model_copy(update={**seen, "conditions": conditions})
