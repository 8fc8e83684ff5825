"""The situations of a new attempt: one pass writes its name into the status, the next creates its child."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.size import asked_resources, search_of, workers_per_trial
from trainwright_api.resource.stages import PREPROCESS, backend_of_pods, comes_before
from trainwright_api.resource.status import Attempt, Resolved
from trainwright_operator.children import ChildSpec, child, shared_objects
from trainwright_operator.decide import conditions
from trainwright_operator.decide.between_attempts import refuse
from trainwright_operator.decide.context import Context, is_resolved
from trainwright_operator.decide.ongoing import write_acceptance
from trainwright_operator.model import names, refusals, times
from trainwright_operator.model.plan import Lookup, Plan
from trainwright_operator.model.status_builder import StatusBuilder
from trainwright_operator.policies import namespace_quota, retry, stages
from trainwright_operator.policies.backend import WITHOUT_KUBERAY
from trainwright_operator.policies.display import QUOTA_EXCEEDED, being_started, phase
from trainwright_operator.policies.forbidden import size_of
from trainwright_operator.policies.images import with_images
from trainwright_operator.policies.sizing import resized, resolve, why_without_gpus
from trainwright_operator.policies.worker_range import range_of, why_fixed


def create_child(context: Context) -> Plan | None:
    """The attempt is in the status, and its child is not created, or its creation is not recorded yet."""
    attempt = context.attempt
    if attempt is None or attempt.create_time is not None or attempt.completion_time is not None:
        return None
    if context.follows_preprocess(attempt):
        earlier = context.child_name(attempt.number, PREPROCESS)
        if any(child.name == earlier for child in context.snapshot.children):
            return _child_leaves(context, f"{context.preprocess_kind} {earlier}")
        if lookups := _unsure(context, earlier, context.preprocess_kind):
            return Plan(lookups=lookups)
    builder = context.builder()
    if context.snapshot.refused:
        _refused(builder, conditions.line(context.snapshot.refused))
        return Plan(status=builder.finish(phase))
    builder.change_attempt(create_time=times.written(context.now))
    write_acceptance(builder, context)
    builder.condition(
        "Started", True, "Started", f"attempt {attempt.number}: {context.kind_of(attempt)} {attempt.child}"
    )
    _wait(context, builder, attempt)
    child_spec = _child_spec(context, attempt)
    create = () if context.child is not None else (*shared_objects(child_spec), child(child_spec))
    return Plan(create=create, status=builder.finish(phase))


def _child_leaves(context: Context, earlier: str) -> Plan:
    """Wait for the end of the earlier stage's child, which is being deleted. Its end is reported."""
    builder, words = context.builder(), f"{earlier} has ended and is not gone yet"
    conditions.waits(builder, "WaitingForPods", words)
    builder.set(message=words)
    return Plan(status=builder.finish(phase))


def _refused(builder: StatusBuilder, words: str) -> None:
    """The API server does not take the child. A quota has room again when other objects are gone."""
    if refusals.EXCEEDED_QUOTA in words:
        conditions.waits(builder, QUOTA_EXCEEDED, words)
    else:
        builder.condition("Running", False, "CannotCreate", words)
        conditions.stalls(builder, "CannotCreate", words)
    builder.set(message=words)


def assign_attempt(context: Context) -> Plan | None:
    """Write the attempt's number, its child's name and the resolved values to the status, before anything is
    created."""
    before = context.attempt
    if before is not None and (lookups := _unsure(context, before.child or "", context.kind_of(before))):
        return Plan(lookups=lookups)
    resolved = _resolved(context, before)
    if isinstance(resolved, Lookup):
        return Plan(lookups=(resolved,))
    if words := context.forbidden(resolved):
        return refuse(context, conditions.FORBIDDEN, words)
    if words := namespace_quota.crowded(
        size_of(context.spec, resolved), context.snapshot.others, context.settings.policy
    ):
        return _crowded(context, words)
    builder, spec, job = context.builder(), context.spec, context.job
    number = max(before.number + 1, before.next_attempt or 0) if before else 1
    first = stages.first(spec, resolved, job.status, context.settings)
    attempt = Attempt(number=number, child=context.child_name(number, first), stage=first, workers=resolved.workers)
    builder.add_attempt(attempt)
    builder.set(start_time=builder.get("start_time") or times.written(context.now), resolved=resolved, room=None)
    if is_resolved(known := job.status.resolved) and known.workers != resolved.workers:
        builder.set(resizes=(builder.get("resizes") or 0) + 1)
    builder.set(output=names.run_folder(spec.output, job.namespace, job.name, job.uid) if spec.output else None)
    warnings = (_summary(context, resolved, first), *(job.validation.warnings if job.validation else ()))
    builder.condition("Accepted", True, "Accepted", "; ".join(warnings))
    _wait(context, builder, attempt)
    return Plan(status=builder.finish(phase))


def _crowded(context: Context, words: str) -> Plan:
    """Wait for the other jobs of the namespace, and look again as often as after a first failure."""
    builder = context.builder()
    conditions.accepts(builder)
    conditions.waits(builder, namespace_quota.CROWDED, words)
    builder.set(message=words)
    again = times.after(context.now, retry.pause(1, context.job.uid, context.settings.backoff))
    return Plan(status=builder.finish(phase), wake_at=again)


def _unsure(context: Context, child: str, kind: str) -> tuple[Lookup, ...]:
    """Return what must be read because the cache may lack it: the last child and its pods, which must be gone first."""
    lookups = () if context.snapshot.pods_fresh else (Lookup("pods"),)
    return lookups if child in context.snapshot.gone else (*lookups, Lookup("child", child, kind))


def _wait(context: Context, builder: StatusBuilder, attempt: Attempt) -> None:
    words = being_started(context.kind_of(attempt), attempt.child or "")
    conditions.waits(builder, "Starting", words)
    builder.set(message=words)


def _resolved(context: Context, before: Attempt | None) -> Resolved | Lookup:
    """Return the resolved values, which are computed once. Only the image of the spec may have changed since, and the
    number of workers of a job with a range."""
    found, status, spec = context.job.status.resolved, context.job.status, context.spec
    if is_resolved(found):
        found = with_images(spec, found, context.settings)
        if not context.may_resize:
            return found
        return resized(spec, found, before, status.room, context.snapshot, context.settings)
    validation = context.job.validation
    made = resolve(context.spec, validation.digest if validation else "", context.snapshot, context.settings)
    return made if isinstance(made, Lookup) else made.model_copy(update={"backend": context.chosen_backend})


def _child_spec(context: Context, attempt: Attempt) -> ChildSpec:
    return ChildSpec(
        job=context.job,
        spec=context.spec,
        attempt=attempt.number,
        stage=attempt.stage or context.spec.task,
        resolved=context.job.status.resolved or Resolved(),
        settings=context.settings,
        ca=context.ca,
    )


def _summary(context: Context, resolved: Resolved, first: str) -> str:
    """Describe the sizes.

    Example: 4 workers × (2 CPU, 1 GPU) in 4 pods; image trainwright:0.1.0; preprocessed on CPUs first.
    """
    spec = context.spec
    before = "; preprocessed on CPUs first" if comes_before(first, spec.task) else ""
    alone = f"; {WITHOUT_KUBERAY}" if resolved.backend == "local" else ""
    why = "" if resolved.gpus else why_without_gpus(spec, context.snapshot.nodes or (), context.settings)
    without = f"; no GPU: {why}" if why else ""
    return f"{_workers_line(spec, resolved)}{_range_line(context)}; {_images(resolved)}{before}{alone}{without}"


def _images(resolved: Resolved) -> str:
    if resolved.cpu_image is None:
        return f"image {resolved.image}"
    return f"image {resolved.image} for pods with devices, {resolved.cpu_image} for the others"


def _range_line(context: Context) -> str:
    within = range_of(context.spec)
    if within is None:
        return ""
    fixed = why_fixed(context.spec, context.snapshot)
    return f", {within.min:,} to {within.max:,} by the room" if not fixed else f", and their number stays: {fixed}"


def _workers_line(spec: TrainingJobSpec, resolved: Resolved) -> str:
    workers, together = resolved.workers or 1, resolved.workers_per_pod or 1
    pods = -(-workers // together)
    if backend_of_pods(spec.task, spec.backend.type) == "local":
        return "1 process in 1 pod"
    each = _shares(asked_resources(spec), has_gpus=bool(resolved.gpus))
    counted = f"{workers:,} worker{'' if workers == 1 else 's'}"
    at_once = "" if search_of(spec) is None else f"trials at the same time: {workers // workers_per_trial(spec):,}; "
    return f"{at_once}{counted} × ({each}) in {pods:,} pod{'' if pods == 1 else 's'}"


def _shares(asked: Mapping[str, Any], *, has_gpus: bool) -> str:
    shares = {"CPU": 1.0, **({"GPU": 1.0} if has_gpus else {}), **asked}
    return ", ".join(f"{value:g} {name}" for name, value in shares.items() if value)
