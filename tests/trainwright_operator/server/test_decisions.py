"""The decision on a report: the reply and the written status, case by case, without a server."""

from __future__ import annotations

import copy
from datetime import UTC, datetime, timedelta

import pytest

from trainwright_api.resource.messages import Derived, OutcomeMessage, ProgressMessage, Report, Score
from trainwright_api.resource.status import BestTrial, RankProgress, TrainingJobStatus, Trials
from trainwright_operator.server.decisions import decide, of_stage, reply_to

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
INTERVAL = 15.0
PROGRESS = ProgressMessage(
    fraction=0.41,
    epoch=2,
    epochs=5,
    eta_seconds=180.0,
    rows_per_second=1e5,
    metrics={"validation.late.roc_auc": 0.742},
    validation_metric=Score(name="roc_auc", value=0.742),
    last_checkpoint="000120-1",
    ranks=[
        RankProgress(rank=1, host="w", step_seconds=0.05, own_seconds=0.04, loader_seconds=0.03, memory_bytes=10**9)
    ],
    straggler="rank 1 (w) delays the others",
    start_position=0,
    resolved=Derived(batch_size=128, global_batch_size=512, learning_rate_factor=2.0),
)
WRITTEN = {
    "attempt": 1,
    "summary": "41% 3m left",
    "metric": "roc_auc=0.742",
    "eta": "3m",
    "fraction": 0.41,
    "epoch": 2,
    "epochs": 5,
    "rowsPerSecond": 1e5,
    "metrics": {"validation.late.roc_auc": 0.742},
    "lastCheckpoint": "000120-1",
    "ranks": [
        {
            "rank": 1,
            "host": "w",
            "stepSeconds": 0.05,
            "ownSeconds": 0.04,
            "loaderSeconds": 0.03,
            "memoryBytes": 10**9,
        }
    ],
    "straggler": "rank 1 (w) delays the others",
    "startPosition": 0,
    "updateTime": "2026-05-01T12:00:00Z",
}
RESOLVED = {"batchSize": 128, "globalBatchSize": 512, "learningRateFactor": 2.0}


def job(**status):
    attempts = [{"number": 1, "child": "late-1", "stage": "train"}]
    return {
        "metadata": {"name": "late", "uid": "u"},
        "spec": {},
        "status": {"attempt": 1, "attempts": attempts, **status},
    }


def report(attempt=1, progress=PROGRESS, outcome=None):
    reported = (
        OutcomeMessage(attempt=attempt, outcome=outcome, line="so it ended", log_tail="a\nb") if outcome else None
    )
    return Report(uid="u", attempt=attempt, progress=progress, outcome=reported)


def written(found, reported):
    return decide(found, reported, NOW, INTERVAL).status


def ago(seconds, attempt=1):
    time = (NOW - timedelta(seconds=seconds)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"attempt": attempt, "updateTime": time, "fraction": 0.1}


def test_the_first_report_is_written_whole():
    decision = decide(job(), report(), NOW, INTERVAL)
    assert not decision.reply.stop
    assert decision.status == {"progress": WRITTEN, "resolved": RESOLVED}
    assert TrainingJobStatus.model_validate(decision.status)


@pytest.mark.parametrize(
    ("seconds", "due"), [(0, False), (14, False), (15, True), (600, True), (-10, False), (-60, True)]
)
def test_progress_is_written_once_in_an_interval(seconds, due):
    assert (written(job(progress=ago(seconds)), report()) is not None) is due


def test_a_new_attempt_is_seen_at_once():
    assert written(job(progress=ago(1, attempt=0)), report()) is not None


@pytest.mark.parametrize("time", [None, "yesterday", "", "2026-05-01"])
def test_a_time_that_a_user_has_written_does_not_hold_up_progress(time):
    assert written(job(progress={"attempt": 1, "updateTime": time}), report()) is not None


def test_an_outcome_is_written_at_once_and_nothing_that_was_there_is_lost():
    found = job(progress=ago(1), resolved={**RESOLVED, "workers": 4})
    assert written(found, report(progress=None, outcome="mistake")) == {
        "progress": ago(1),
        "outcome": {
            "attempt": 1,
            "outcome": "mistake",
            "message": "so it ended",
            "logTail": "a\nb",
            "postTime": "2026-05-01T12:00:00Z",
        },
        "resolved": RESOLVED,
    }


def test_progress_keeps_the_outcome_of_the_attempt_before():
    outcome = {"attempt": 0, "outcome": "crash", "postTime": "2026-05-01T11:00:00Z"}
    status = written(job(outcome=outcome), report())
    assert status is not None
    assert status["outcome"] == outcome


def test_an_outcome_that_is_posted_twice_is_written_once():
    first = written(job(), report(progress=None, outcome="done"))
    assert first is not None
    later = decide(job(**first), report(progress=None, outcome="done"), NOW + timedelta(seconds=60), INTERVAL)
    assert later.status is None


def test_what_was_resolved_once_stays_when_a_report_does_not_show_it():
    silent = PROGRESS.model_copy(update={"resolved": None})
    status = written(job(resolved=RESOLVED), report(progress=silent))
    assert status is not None
    assert status["resolved"] == RESOLVED


def with_(where, **values):
    found = copy.deepcopy(job())
    found[where].update(values)
    return found


CLOSED = [{"number": 1, "completionTime": "2026-05-01T11:00:00Z"}]


@pytest.mark.parametrize(
    ("found", "reason", "writes"),
    [
        (with_("spec", suspend=True), "the job is suspended", True),
        (with_("metadata", deletionTimestamp="2026-05-01T11:00:00Z"), "the job is being deleted", True),
        (job(attempts=[{"number": 1, "stopTime": "2026-05-01T11:00:00Z"}]), "attempt 1 was asked to stop", True),
        (job(attempts=CLOSED), "attempt 1 has been closed", False),
        (job(attempt=2), "attempt 1 has been superseded by attempt 2", False),
        (job(completionTime="2026-05-01T11:00:00Z"), "the job has ended", False),
    ],
)
def test_a_pod_is_asked_to_stop(found, reason, writes):
    decision = decide(found, report(outcome="stopped"), NOW, INTERVAL)
    assert (decision.reply.stop, decision.reply.reason) == (True, reason)
    assert (decision.status is not None) is writes


def test_an_attempt_that_the_status_does_not_know_is_not_written():
    decision = decide(job(attempt=0), report(), NOW, INTERVAL)
    assert (decision.reply.stop, decision.status) == (False, None)


@pytest.mark.parametrize("status", [None, {}, [], {"attempts": None, "attempt": 1}])
def test_a_status_that_is_not_there_is_no_error(status):
    assert not reply_to({"metadata": {}, "spec": None, "status": status}, report()).stop


def test_progress_of_nothing_but_a_stage_is_written():
    found = job(attempts=[{"number": 1, "stage": "preprocess"}])
    status = written(found, report(progress=ProgressMessage(stage="preprocess")))
    reported = {"stage": "preprocess", "summary": "preprocess", "updateTime": "2026-05-01T12:00:00Z"}
    assert status == {"progress": {"attempt": 1, **reported}}


def test_a_new_stage_is_seen_at_once():
    found = job(progress={**ago(1), "stage": "preprocess"})
    assert written(found, of_stage(report(), "train")) is not None
    assert written(job(progress={**ago(1), "stage": "train"}), of_stage(report(), "train")) is None


@pytest.mark.parametrize("reported", [report(outcome="done"), report(progress=None, outcome="stopped"), report()])
def test_a_stage_that_is_over_is_asked_to_stop_and_writes_nothing(reported):
    decision = decide(job(), of_stage(reported, "preprocess"), NOW, INTERVAL)
    assert (decision.reply.stop, decision.reply.reason) == (True, "stage preprocess of attempt 1 is over")
    assert decision.status is None


def test_a_label_that_a_user_has_changed_stops_no_pod():
    assert not decide(job(), of_stage(report(), "x"), NOW, INTERVAL).reply.stop


def test_the_stage_is_that_of_the_pods_label_whatever_the_pod_shows():
    lying = report(progress=ProgressMessage(stage="preprocess"), outcome="done")
    status = written(job(), of_stage(lying, "train"))
    assert (status["outcome"]["stage"], status["progress"]["stage"]) == ("train", "train")
    assert of_stage(lying, "").progress == lying.progress


def test_the_trials_of_a_search_are_written():
    best = BestTrial(name="0003", score=0.7, state="done", values="rate 0.1", folder="s3://b/run/trials/0003")
    trials = Trials(total=12, finished=7, failed=1, running=2, best=[best])
    progress = ProgressMessage(fraction=0.5, trials=trials, validation_metric=Score(name="roc_auc", value=0.7))
    status = written(job(), report(progress=progress))
    assert (status["progress"]["summary"], status["progress"]["metric"]) == ("7/12 trials", "roc_auc=0.700")
    read = TrainingJobStatus.model_validate(status).progress
    assert read is not None
    assert read.trials == trials
