"""Determines how an attempt ended from all available information, in the order of trust.

The order: the outcome that its process posted; the termination message of its pod, which has the same format; the exit
code. Without these, the cause is the infrastructure or a preemption.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import MappingProxyType

from trainwright_api.resource.messages import LOG_BYTES, OutcomeMessage, last_bytes, outcome_from_termination
from trainwright_api.resource.redaction import redacted_text
from trainwright_api.resource.stages import differ
from trainwright_api.resource.status import Attempt, OutcomeClass, PostedOutcome
from trainwright_operator.model.observed import Child, Job, Pod, of_child
from trainwright_operator.policies import lost_pods
from trainwright_operator.policies.lost_pods import KILLED

OF_EXIT_CODES: Mapping[int, OutcomeClass] = MappingProxyType(
    {0: "done", 1: "crash", 2: "mistake", 3: "environment", 75: "stopped"}
)
SUBMISSION_FAILED = "SubmissionFailed"
"""KubeRay's reason if the submitter failed, even if it only attached to an entrypoint that already ran."""
JOB_FAILED = "BackoffLimitExceeded"
"""The Job controller's reason for every end of a Job without retries, as all Jobs here are. It tells no cause."""
NUMBER_USED = "AttemptNumberUsed"
"""The reason of an attempt whose number the run folder knows already."""
GROWS, SHRINKS = "Growing", "Shrinking"
"""The reasons of attempts that end so that the next one has another number of workers."""
LOG_CUT_BYTES = 2048
"""The number of bytes that Kubernetes takes from the end of a log as the termination message."""


@dataclass(frozen=True)
class Ending:
    """`reason` is one word, `message` one line for people, `log_tail` the last log lines, redacted."""

    outcome: OutcomeClass
    reason: str
    message: str
    log_tail: str = ""
    next_attempt: int | None = None
    """The next free number of an attempt, if the run folder knows this one's already."""


def ending(job: Job, attempt: Attempt, child: Child | None, pods: tuple[Pod, ...]) -> Ending:
    """Return the ending of an attempt whose child has ended, or is gone (None)."""
    own = of_child(pods, attempt.number, attempt.stage)
    posted = reported_outcome(job, attempt, own)
    if posted is not None:
        return _as_posted(posted, job, attempt, own)
    return _as_seen(job, attempt, child, own)


def stopped(attempt: Attempt) -> Ending:
    """Return the ending of an attempt that has stopped as the operator asked."""
    if attempt.reason == GROWS:
        return Ending("stopped", GROWS, attempt.message or "")
    return Ending("stopped", "Suspended", "stopped because the job was suspended")


def reported_outcome(job: Job, attempt: Attempt, own: tuple[Pod, ...] = ()) -> PostedOutcome | None:
    """Return the outcome that the attempt's own process reported for its stage, posted or in its termination message.

    Reports from the stage before are ignored, also late ones.
    """
    return next((found for found in _reports(job, own) if _is_about(found, job, attempt)), None)


def _reports(job: Job, own: tuple[Pod, ...]) -> Iterator[PostedOutcome]:
    if job.status.outcome is not None:
        yield job.status.outcome
    for pod in own:
        found = outcome_from_termination(pod.termination_message)
        if found is not None:
            yield as_status(found, pod.stage)


def _is_about(found: PostedOutcome, job: Job, attempt: Attempt) -> bool:
    """True if the outcome belongs to the attempt's stage.

    An outcome without a stage, as older versions post it, only counts if the attempt has a single stage.
    """
    if found.attempt != attempt.number or found.stage is not None:
        return found.attempt == attempt.number and not differ(found.stage, attempt.stage)
    done = job.status.preprocessed
    return done is None or done.attempt != attempt.number


def as_status(message: OutcomeMessage, stage: str = "") -> PostedOutcome:
    """Convert the message to its form in the status. `stage`: the one in the pod's label, which the operator sets."""
    return PostedOutcome(
        attempt=message.attempt,
        stage=stage or message.stage,
        outcome=message.outcome,
        message=message.line or None,
        log_tail=message.log_tail,
        model=message.model,
        test_scores=message.test_scores,
        next_attempt=message.next_attempt,
    )


def _was_asked_to_stop(job: Job, attempt: Attempt) -> bool:
    """A pod may be told of a suspension, and stop, before a pass writes the time."""
    return attempt.stop_time is not None or job.suspend


def _as_posted(posted: PostedOutcome, job: Job, attempt: Attempt, own: tuple[Pod, ...]) -> Ending:
    words = posted.message or posted.outcome
    if posted.next_attempt:
        # The status was reset when no child was left. The attempt began nothing, so it counts against no limit.
        return Ending("stopped", NUMBER_USED, words, next_attempt=posted.next_attempt)
    if posted.outcome == "stopped" and not _was_asked_to_stop(job, attempt):
        # The process received a stop signal that the operator did not request: its node was taken.
        return Ending(
            "preempted", lost_pods.disruption(own) or attempt.reason or "Terminated", words, posted.log_tail or ""
        )
    if posted.outcome == "stopped" and attempt.reason == GROWS:
        return stopped(attempt)
    return Ending(posted.outcome, _WORDS[posted.outcome], words, posted.log_tail or "")


def _as_seen(job: Job, attempt: Attempt, child: Child | None, own: tuple[Pod, ...]) -> Ending:
    tail = _tail(child, own)
    if child is not None and child.state == "succeeded":
        return Ending("done", _WORDS["done"], "")
    code = _exit_code(child, own)
    if code == 75 and attempt.reason == GROWS:
        return stopped(attempt)
    disrupted = lost_pods.disruption(own) or (None if attempt.reason == GROWS else attempt.reason)
    if disrupted and code not in (2, 3):
        words = lost_pods.disruption_words(own) or attempt.message or "a required pod was evicted from its node"
        return Ending("preempted", disrupted, words, tail)
    if code == 75 and not _was_asked_to_stop(job, attempt):
        return Ending("preempted", "Terminated", "a signal stopped it, and it wrote a checkpoint", tail)
    if code is None and (failed := lost_pods.with_failed_init(own)):
        last = _last_line(tail)
        words = f"pod {failed.name}: {failed.init_failure}{f': {last}' if last else ''}"
        return Ending("crash", "InitContainerFailed", words, tail)
    outcome = "infrastructure" if code is None or code in KILLED else OF_EXIT_CODES.get(code, "crash")
    return Ending(outcome, _reason(outcome, child, own), _line(attempt, child, code, own, tail), tail)


def _exit_code(child: Child | None, own: tuple[Pod, ...]) -> int | None:
    codes = [pod.exit_code for pod in own if pod.exit_code]
    # The member of a gang that exited by itself holds the cause; the others were killed because of it.
    by_itself = [code for code in codes if code not in KILLED]
    if codes:
        return (by_itself or codes)[0]
    return child.exit_code if child is not None else None


def _reason(outcome: OutcomeClass, child: Child | None, own: tuple[Pod, ...]) -> str:
    if outcome != "infrastructure":
        return _WORDS[outcome]
    if lost := lost_pods.with_reason(own):
        return lost.reason
    if child is None:
        return "ChildGone"
    return lost_pods.reason(own) if child.reason == JOB_FAILED else child.reason or _WORDS[outcome]


def _line(attempt: Attempt, child: Child | None, code: int | None, own: tuple[Pod, ...], tail: str) -> str:
    if child is None:
        return f"{attempt.child} is gone: it was deleted by somebody else"
    last = _last_line(tail)
    if code is not None and code not in KILLED and last:
        return last
    if lost := lost_pods.with_reason(own):
        return lost_pods.words(lost)
    if child.reason == SUBMISSION_FAILED and child.started is not None:
        return f"the head or the submitter of {child.name} was lost while it ran"
    if child.reason == JOB_FAILED:
        return lost_pods.line(child, own)
    words = redacted_text(child.message.partition("\n")[0].strip())
    return words or f"{child.kind} {child.name} failed and gave no reason"


def _tail(child: Child | None, own: tuple[Pod, ...]) -> str:
    failed = [pod for pod in own if pod.exit_code or pod.init_failure]
    ended = [_whole_lines(pod.termination_message) for pod in failed if pod.termination_message]
    text = ended[0] if ended else child.log_tail if child is not None else ""
    return last_bytes(redacted_text(text), LOG_BYTES)


def _last_line(tail: str) -> str:
    return tail.rstrip().rpartition("\n")[2].strip()


def _whole_lines(text: str) -> str:
    """Drop the first line of a truncated text: the cut may hide the name of a secret from the redaction."""
    if len(text.encode(errors="replace")) < LOG_CUT_BYTES:
        return text
    first, newline, rest = text.partition("\n")
    return rest if newline else first.partition(" ")[2]


_WORDS: Mapping[OutcomeClass, str] = MappingProxyType(
    {
        "done": "Done",
        "mistake": "Mistake",
        "environment": "Environment",
        "crash": "Crash",
        "stopped": "Stopped",
        "infrastructure": "Infrastructure",
        "preempted": "Preempted",
    }
)
