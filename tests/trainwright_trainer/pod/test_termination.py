from __future__ import annotations

from pathlib import Path

import pytest

from trainwright_api.resource.messages import OutcomeMessage
from trainwright_trainer.errors import TRAINED, Outcome
from trainwright_trainer.job.pod import Pod
from trainwright_trainer.pod.termination import message_of, outcome_of, outcome_of_existing_run
from trainwright_trainer.storage.local import FolderStorage
from trainwright_trainer.tasks.result import Result, TaskSummary

TEST = {"late": {"loss": 0.4, "roc_auc": 0.75}, "combined": {"loss": float("nan")}}
RESULT = Result(Path("run"), Path("run/model"), Path("run/report.html"), TEST, (), 0, TRAINED, 1.0)


def test_of_training():
    assert message_of(outcome_of(RESULT), Pod(3, "train"), "one\ntwo\n") == OutcomeMessage(
        attempt=3,
        stage="train",
        outcome="done",
        line="the model is there",
        log_tail="one\ntwo\n",
        model="run/model",
        test_scores={"late.loss": 0.4, "late.roc_auc": 0.75},
    )


def test_of_a_task_that_trains_nothing():
    message = message_of(outcome_of(TaskSummary("200 rows; cache 9f3c written")), Pod(1, "preprocess"), "")
    assert message == OutcomeMessage(attempt=1, stage="preprocess", outcome="done", line="200 rows; cache 9f3c written")


def test_no_secret_is_reported():
    ended = Outcome("crash", "token=hunter2 " + "x" * 2000)
    message = message_of(ended, Pod(1, "preprocess"), "password=hunter2\n")
    assert message.line.startswith("token=(hidden) xxx")
    assert len(message.line) == 1024
    assert message.log_tail == "password=(hidden)\n"


@pytest.mark.parametrize(
    ("metrics", "scores"),
    [
        (b'{"end": {"test": {"late": {"roc_auc": 0.75, "loss": null}}}}', {"late.roc_auc": 0.75}),
        (b'{"end": null}', None),
        (b"{", None),
        (None, None),
    ],
)
def test_of_a_run_that_was_done_before(tmp_path, metrics, scores):
    storage = FolderStorage(tmp_path / "run")
    if metrics is not None:
        storage.write("metrics.json", [metrics])
    message = message_of(outcome_of_existing_run(storage), Pod(2, "train"), "")
    assert message.outcome == "done"
    assert message.model == str(tmp_path / "run/model")
    assert message.test_scores == scores
