"""The answer of the webhook to an AdmissionReview: pure functions. The messages equal those of `validate`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from trainwright_api.checks.cluster import ValidationResult, changed, validate_job
from trainwright_api.locations import S3
from trainwright_api.resource.job import API_VERSION, KIND, TrainingJobSpec, fixed
from trainwright_operator.kube import serializer
from trainwright_operator.model.reading import mapping
from trainwright_operator.policies.forbidden import refusal
from trainwright_operator.server import late_changes
from trainwright_operator.settings import Settings

WARNING_CHARACTERS = 250
"""The API server truncates warnings of more than 256 characters."""

Json = dict[str, Any]

_ANY_JOB: Json = {
    "apiVersion": API_VERSION,
    "kind": KIND,
    "metadata": {"name": "any"},
    "spec": {
        "dataset": f"{S3}any/data.csv",
        "output": f"{S3}any/runs",
        "config": {
            "input_features": [{"name": kind, "type": kind} for kind in ("number", "category", "text", "image")],
            "output_features": [{"name": "y", "type": "binary"}],
        },
        "backend": {"type": "ray", "trainer": {"strategy": "ddp"}},
    },
}


class Busy(Exception):
    """The review was not validated. The message says why, in one line."""


@dataclass(frozen=True)
class Answer:
    """The response to a request of the API server."""

    status: int
    body: str
    """JSON: an AdmissionReview, or a message."""
    allowed: bool | None = None
    """None if the request has no review."""


def answer(body: bytes, settings: Settings) -> Answer:
    """Return the answer to the body of a request."""
    try:
        review = read_review(body)
    except ValueError as error:
        return Answer(400, serializer.dumps({"message": f"no AdmissionReview: {error}"}))
    response = respond(review["request"], settings)
    whole = {"apiVersion": review["apiVersion"], "kind": "AdmissionReview", "response": response}
    return Answer(200, serializer.dumps(whole), response["allowed"])


def prepare() -> None:
    """Build the pydantic models, which are built at their first use, so that the first `kubectl apply` is fast."""
    validate_job(_ANY_JOB)


def read_review(body: bytes) -> Json:
    """Parse an AdmissionReview that has a request. Raises ValueError with one line."""
    review = serializer.loads(body)
    question = review.get("request") if isinstance(review, dict) else None
    if not isinstance(question, dict) or not isinstance(question.get("uid"), str):
        raise ValueError("request.uid is missing")
    if review.get("apiVersion") != "admission.k8s.io/v1":
        raise ValueError("expected apiVersion admission.k8s.io/v1")
    return {"apiVersion": review["apiVersion"], "request": question}


def respond(question: Mapping[str, Any], settings: Settings) -> Json:
    """Return the response to the request of an AdmissionReview."""
    try:
        return _respond(question, settings)
    except RecursionError:
        return _denied(question, f"{question.get('name') or 'job'}: nested too deeply")


def _respond(question: Mapping[str, Any], settings: Settings) -> Json:
    new, old = mapping(question, "object"), mapping(question, "oldObject")
    if not _is_validated(question, new, old):
        return _allowed(question)
    if question["operation"] == "CREATE":
        new = {key: value for key, value in new.items() if key != "status"}  # a new job has not started yet
    result = _validated(new, question, settings)
    before = _validated(old, question, settings) if _started(old) else None
    if result.spec is None:
        if before is not None and before.message == result.message:
            # An older version accepted it and it has started. It must still be possible to suspend it.
            return _allowed(question, (result.message,))
        return _denied(question, result.message)
    changes = "" if before is None else _fixed(result, before, mapping(old, "status", "resolved").get("digest"))
    if changes:
        return _denied(question, changes)
    against = _forbidden(new, question, settings, result.spec)
    warnings = (*late_changes.warnings(new, old), *_never_deleted(result.spec, settings), *result.warnings)
    if not against:
        return _allowed(question, warnings)
    if before is not None and against == _forbidden(old, question, settings, before.spec):
        # The policy was stricter only after the start. It must still be possible to suspend the job.
        return _allowed(question, (against, *warnings))
    return _denied(question, against)


def _validated(job: Mapping[str, Any], question: Mapping[str, Any], settings: Settings) -> ValidationResult:
    return validate_job(job, question.get("name") or None, template=settings.jobs.pod_template)


def _never_deleted(spec: TrainingJobSpec, settings: Settings) -> Iterator[str]:
    """Yield the warning for a job that is to be deleted after its end, at no time."""
    times = (spec.ttl_seconds_after_finished, settings.jobs.ttl_seconds_after_finished)
    if spec.ttl_policy == "DeleteJob" and times == (None, None):
        yield "ttlPolicy: does not act without ttlSecondsAfterFinished: the job is not deleted after its end"


def _forbidden(
    job: Mapping[str, Any], question: Mapping[str, Any], settings: Settings, spec: TrainingJobSpec | None
) -> str:
    """Return what the policy forbids in the job, in the words of the reconciler."""
    metadata = mapping(job, "metadata")
    name = question.get("name") or metadata.get("name") or metadata.get("generateName") or "job"
    return "" if spec is None else refusal(spec, settings.policy, settings.images, str(name))


def _is_validated(question: Mapping[str, Any], new: Mapping[str, Any], old: Mapping[str, Any]) -> bool:
    if question.get("operation") not in ("CREATE", "UPDATE") or question.get("subResource"):
        return False
    if mapping(question, "kind").get("kind") != KIND or "deletionTimestamp" in mapping(new, "metadata"):
        return False
    return question["operation"] == "CREATE" or new.get("spec") != old.get("spec")


def _started(old: Mapping[str, Any]) -> bool:
    return bool(mapping(old, "status").get("startTime"))


def _fixed(result: ValidationResult, before: ValidationResult, recorded: str | None) -> str:
    """Return why the change of a started job is refused, or "". The rules in the CRD cover only the keys they know.

    `recorded`: the digest in the status.
    """
    if result.digest in (recorded, before.digest) or result.spec is None:
        return ""
    if before.spec is None:
        return fixed("what was started") if recorded else ""
    return "; ".join(fixed(name) for name in changed(before.spec, result.spec))


def _allowed(question: Mapping[str, Any], warnings: tuple[str, ...] = ()) -> Json:
    allowed: Json = {"uid": question["uid"], "allowed": True}
    return {**allowed, "warnings": [line[:WARNING_CHARACTERS] for line in warnings]} if warnings else allowed


def _denied(question: Mapping[str, Any], message: str) -> Json:
    status = {"status": "Failure", "code": 422, "reason": "Invalid", "message": message}
    return {"uid": question["uid"], "allowed": False, "status": status}
