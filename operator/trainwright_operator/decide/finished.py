"""The situations before all others: a job that is deleted by its user, whose status is unreadable, or finished."""

from __future__ import annotations

from trainwright_operator.children import clean_up
from trainwright_operator.decide.context import ENDED, Context, deletions, is_unsure
from trainwright_operator.model.observed import Child
from trainwright_operator.model.plan import Deletion, Lookup, Plan
from trainwright_operator.model.status_builder import end_of
from trainwright_operator.policies import deadlines
from trainwright_operator.policies.display import phase

UNATTENDED = ("ValidationFailed",)
"""The KubeRay reasons after which it no longer reconciles a RayJob, nor deletes a cluster that it may have created."""


def being_deleted(context: Context) -> Plan | None:
    """The job is being deleted. Its objects follow by their owner references, so the operator waits for nothing."""
    return Plan() if context.job.deleting else None


def unreadable(context: Context) -> Plan | None:
    """The status cannot be read: remove it. The next pass reads the attempt and the counts back from the children."""
    return Plan(reset=context.job.unreadable) if context.job.unreadable else None


def finished(context: Context) -> Plan | None:
    """A finished job stays finished. Delete what still exists, then wait for its time to live."""
    if end_of(context.job.status) is None:
        return None
    superfluous = tuple(
        child for child in context.snapshot.children if _is_superfluous(child, context.job.status.child)
    )
    unsure = tuple(
        Lookup("child", child.name, child.kind)
        for child in superfluous
        if child.name == context.job.status.child and is_unsure(context, child)
    )
    if unsure:
        return Plan(lookups=unsure)
    if superfluous:
        return Plan(delete=deletions(superfluous))
    due = deadlines.cleanup_time(context.job, context.settings.jobs.ttl_seconds_after_finished)
    if due is None or (context.job.status.child is None and context.job.ttl_policy != "DeleteJob"):
        return Plan(status=context.builder().finish(phase))
    return Plan(status=context.builder().finish(phase), wake_at=due) if context.now < due else _cleaned_up(context)


def _cleaned_up(context: Context) -> Plan:
    job = context.job
    if job.ttl_policy == "DeleteJob":
        return Plan(delete=(Deletion("TrainingJob", job.namespace, job.name, job.uid),))
    builder = context.builder()
    builder.set(child=None)
    return Plan(delete=clean_up(job), status=builder.finish(phase))


def _is_superfluous(child: Child, kept: str | None) -> bool:
    """Return False for the last child, if it has ended and none of its parts runs: it keeps the logs."""
    return child.name != kept or child.state not in ENDED or child.reason in UNATTENDED
