"""`trainwright run` in a pod, in this process: the outcome, and the places that it is written to."""

from __future__ import annotations

import json
import threading
from dataclasses import replace

import pytest
from testkit.server.listening import TIMEOUT_SECONDS, listening

from trainwright_api.resource.messages import outcome_from_termination
from trainwright_trainer.errors import EnvironmentFailure, Outcome
from trainwright_trainer.job.options import Options
from trainwright_trainer.job.pod import Address, Pod
from trainwright_trainer.pod import entrypoint
from trainwright_trainer.rundir.json_text import unseal
from trainwright_trainer.tasks import run


class Attempts:
    """Consecutive attempts of one job in pods."""

    def __init__(self, workplace, operator, capsys):
        self.workplace, self.operator, self._capsys = workplace, operator, capsys
        self.run = workplace.folder / "runs/job-1a2b"
        self._message = workplace.folder / "termination-log"
        self.printed = ""

    def pod(self, attempt, **changes):
        address = Address(self.operator.url, self.operator.token_file, self.operator.ca)
        found = Pod(attempt, "train", "abc", str(self.run), address, termination_log=self._message)
        return replace(found, **changes)

    def end(self, attempt=1, **changes):
        """Run one attempt. Returns its outcome from the termination message, and checks the exit code."""
        self._message.write_text("")
        code = entrypoint.run_in_pod(self.pod(attempt, **changes), self.workplace.folder / "job.yaml", Options())
        self.printed = "".join(self._capsys.readouterr())
        outcome = outcome_from_termination(self._message.read_text())
        assert outcome.attempt == attempt
        assert code == Outcome(outcome.outcome, "").exit_code
        return outcome

    def posted(self):
        """The newest outcome that was posted to the operator."""
        return self.operator.outcomes[-1]

    def written(self, attempt=1):
        path = self.run / f"attempts/{attempt}/outcome.json"
        return json.loads(path.read_text()) if path.exists() else None


@pytest.fixture
def attempts(workplace, capsys):
    with listening(workplace.folder) as operator:
        yield Attempts(workplace, operator, capsys)


def test_an_attempt_that_is_done_says_so_everywhere(attempts):
    attempts.workplace.job()
    outcome = attempts.end()
    assert (outcome.outcome, outcome.line) == ("done", "the model is there")
    assert outcome.model == str(attempts.run / "model")
    assert "late.roc_auc" in outcome.test_scores
    assert outcome.log_tail == attempts.printed
    assert (attempts.run / "logs/attempt-1/train-0.log").read_text() == attempts.printed
    assert attempts.posted() == {
        "attempt": 1,
        "stage": "train",
        "class": "done",
        "line": "the model is there",
        "logTail": outcome.log_tail,
        "model": outcome.model,
        "testScores": outcome.test_scores,
    }
    assert attempts.written()["class"] == "done"
    assert (attempts.run / "model/model.json").exists()


def test_what_is_reported_of_it_on_the_way(attempts):
    attempts.workplace.job()
    attempts.end()
    first, *_, last = attempts.operator.reports
    assert (first.body["uid"], first.body["attempt"]) == ("abc", 1)
    assert first.body["progress"]["stage"] == "train"
    progress = last.body["progress"]
    assert (progress["fraction"], progress["epoch"], progress["epochs"]) == (1.0, 1, 1)
    assert progress["startPosition"] == 0
    assert progress["lastCheckpoint"] == "0000000005-1"
    assert progress["resolved"] == {"batchSize": 32, "globalBatchSize": 32, "learningRateFactor": 1.0}
    # So few validation rows let the loss decide.
    assert progress["validationMetric"] == {"name": "loss", "value": progress["metrics"]["validation.late.loss"]}


def test_a_run_that_is_done_already_is_done_again(attempts):
    attempts.workplace.job()
    first, second = attempts.end(), attempts.end(2)
    assert second.outcome == "done"
    assert (second.model, second.test_scores) == (first.model, first.test_scores)
    assert attempts.written(2)["class"] == "done"
    assert not (attempts.run / "attempts/2/start.json").exists()


def test_a_mistake_is_reported_in_its_line(attempts):
    attempts.workplace.job(lambda job: job["config"]["input_features"][0].update(name="sise"))
    outcome = attempts.end()
    assert outcome.outcome == "mistake"
    assert "'sise' is not in data.csv. Nearest: 'size'." in outcome.line
    assert attempts.printed == f"job.yaml: {outcome.line}\n"
    assert attempts.written() == attempts.written() | {"class": "mistake", "exit_code": 2, "line": outcome.line}
    assert {path.name for path in attempts.run.iterdir()} == {"attempts", "logs"}


def test_a_mended_file_goes_on_in_the_same_folder(attempts):
    attempts.workplace.job(lambda job: job["config"]["input_features"][0].update(name="sise"))
    attempts.end()
    attempts.workplace.job()
    assert attempts.end(2).outcome == "done"
    assert (attempts.run / "attempts/2/start.json").exists()


@pytest.mark.parametrize(
    ("error", "kind", "line"),
    [
        (EnvironmentFailure("out: the disk is full"), "environment", "out: the disk is full"),
        (MemoryError(), "environment", "out of memory. A smaller trainer.batch_size"),
        (KeyError("gone"), "crash", "KeyError: 'gone'"),
    ],
)
def test_other_ends(attempts, monkeypatch, error, kind, line):
    def fail(*_, **__):
        raise error

    attempts.workplace.job()
    monkeypatch.setattr(run, "prepare_data", fail)
    outcome = attempts.end()
    assert outcome.outcome == kind == attempts.posted()["class"] == attempts.written()["class"]
    assert outcome.line.startswith(line)
    assert ("Traceback" in outcome.log_tail) == (kind == "crash")
    assert outcome.log_tail.rstrip().endswith(outcome.line)


def test_asked_to_stop_it_leaves_a_checkpoint_and_the_next_attempt_goes_on(attempts, monkeypatch):
    def suspended_in_the_third_epoch(report):
        return 200, {"stop": report.body["progress"].get("epoch", 0) > 2, "reason": "the job is suspended"}

    attempts.workplace.job(lambda job: job["config"]["trainer"].update(epochs=10_000, early_stop=-1))
    attempts.operator.answer = suspended_in_the_third_epoch
    monkeypatch.setattr("trainwright_trainer.callbacks.report_schedule.EVERY_SECONDS", 0.0)
    first = attempts.end()
    assert first.outcome == "stopped"
    assert first.line.startswith("stopped by the operator (the job is suspended) at epoch ")
    assert first.line.endswith("; checkpoint written")
    checkpoint = attempts.operator.reports[-1].body["progress"]["lastCheckpoint"]
    assert checkpoint == max(path.name for path in (attempts.run / "checkpoints").iterdir())
    second = attempts.end(2)
    assert second.outcome == "stopped"
    assert json.loads((attempts.run / "attempts/2/start.json").read_text())["checkpoint"] == checkpoint
    train = int(attempts.printed.partition(" train / ")[0].rpartition(" ")[2])
    position = unseal((attempts.run / f"checkpoints/{checkpoint}/manifest.json").read_bytes())["position"]
    progress = attempts.operator.reports[-1].body["progress"]
    assert progress["startPosition"] == position["epoch"] * train + position["rows"]


def test_asked_to_stop_while_the_data_are_read_it_ends_there(attempts, monkeypatch):
    def wait(*_, **__):
        attempts.operator.answer = (200, {"stop": True, "reason": "the job is suspended"})
        threading.Event().wait(TIMEOUT_SECONDS)
        raise AssertionError("nobody has asked")

    attempts.workplace.job()
    monkeypatch.setattr(run, "prepare_data", wait)
    monkeypatch.setattr("trainwright_trainer.callbacks.report_schedule.EVERY_SECONDS", 0.0)
    outcome = attempts.end()
    assert outcome.outcome == "stopped"
    assert outcome.line.startswith("stopped by the operator (the job is suspended) before training began: ")
    assert not (attempts.run / "attempts/1/start.json").exists()


def test_the_stage_before_fills_the_cache_and_no_more(attempts):
    attempts.workplace.job(lambda job: job.update(backend={"cache_dir": "cache"}))
    outcome = attempts.end(stage="preprocess")
    assert outcome.outcome == "done"
    assert outcome.line.startswith("data.csv: 200 rows; cache ")
    assert outcome.line.endswith(" written")
    assert outcome.model is None
    assert {report.body["progress"]["stage"] for report in attempts.operator.reports} == {"preprocess"}
    assert [path.name for path in attempts.run.rglob("*.log")] == ["preprocess-0.log"]
    attempts.end()
    assert ": cache hit " in attempts.printed


def test_the_tasks_of_a_model(attempts):
    attempts.workplace.job()
    model = attempts.end().model
    for task in ("evaluate", "predict"):
        attempts.run = attempts.workplace.folder / task
        attempts.workplace.job(lambda job, task=task: job.update(task=task, model=model) or job.pop("config"))
        outcome = attempts.end(stage=task)
        assert outcome.outcome == "done", outcome
        assert attempts.written()["class"] == "done"
        assert bool(outcome.test_scores) == (task == "evaluate")


def test_an_experiment_that_was_killed_before_its_predictions(attempts, monkeypatch):
    attempts.workplace.job(lambda job: job.update(task="experiment"))
    with monkeypatch.context() as patch:
        patch.setattr(run, "_predict_test_rows", lambda *_: (_ for _ in ()).throw(EnvironmentFailure("no room")))
        assert attempts.end(stage="experiment").outcome == "environment"
    assert attempts.end(2, stage="experiment").outcome == "done"
    assert (attempts.run / "test_predictions.parquet").exists()


def test_versions_that_cannot_work_together(attempts):
    attempts.workplace.job()
    outcome = attempts.end(contract="2")
    assert outcome.outcome == "mistake"
    assert outcome.line.startswith("image: the image speaks contract 1, the operator 2")


def test_an_attempt_that_somebody_else_has_begun_is_tried_again_and_its_outcome_is_theirs(attempts):
    attempts.workplace.job()
    start = attempts.run / "attempts/1/start.json"
    start.parent.mkdir(parents=True)
    start.write_text("{")
    outcome = attempts.end()
    assert outcome.outcome == "environment"
    assert outcome.line.endswith("attempt 1 of this run has begun already; 2 is next")
    assert outcome.next_attempt == 2
    assert attempts.written() is None


def test_where_the_operator_refuses_the_log_still_ends_with_the_reason(attempts):
    attempts.workplace.job(lambda job: job["config"]["input_features"][0].update(name="sise"))
    attempts.operator.answer = (403, {"message": "the pod is gone"})
    outcome = attempts.end()
    *_, not_sent, last = attempts.printed.splitlines()
    assert not_sent == "the outcome did not reach the operator: it answers 403: the pod is gone"
    assert last == outcome.line


def test_without_an_address_and_without_a_kubelet(attempts):
    attempts.workplace.job()
    pod = attempts.pod(1, address=None, termination_log=attempts.workplace.folder / "gone/log")
    assert entrypoint.run_in_pod(pod, attempts.workplace.folder / "job.yaml", Options()) == 0
    assert attempts.written()["class"] == "done"
    assert attempts.operator.reports == []
    assert not (attempts.workplace.folder / "gone").exists()


class TestCommand:
    """The variables of the operator make `trainwright run` run in pod mode."""

    @pytest.fixture
    def environment(self, attempts, monkeypatch):
        variables = {"ATTEMPT": "1", "STAGE": "train", "UID": "abc", "RUN": str(attempts.run)}
        for name, value in variables.items():
            monkeypatch.setenv(f"TRAINWRIGHT_{name}", value)
        for name, value in attempts.operator.environment.items():
            monkeypatch.setenv(name, value)

    @pytest.mark.usefixtures("environment")
    def test_run_in_a_pod(self, attempts):
        attempts.workplace.done("run", attempts.workplace.job())
        assert attempts.posted()["class"] == "done"
        assert attempts.run.exists()

    @pytest.mark.usefixtures("environment")
    def test_other_commands_are_a_persons(self, attempts):
        attempts.workplace.done("train", attempts.workplace.job())
        assert attempts.operator.reports == []
        assert not attempts.run.exists()

    @pytest.mark.usefixtures("environment")
    @pytest.mark.parametrize("flags", [("--output", "o"), ("--resume", "o"), ("--overwrite",), ("--backend", "local")])
    def test_no_flag_says_where_the_run_lies(self, attempts, flags):
        ended = attempts.workplace.run("run", attempts.workplace.job(), *flags)
        assert ended.code == 2
        assert "in a pod the operator decides the output folder" in ended.err

    def test_an_environment_that_is_none_of_a_pods(self, workplace, monkeypatch):
        monkeypatch.setenv("TRAINWRIGHT_ATTEMPT", "one")
        line = workplace.refused("run", workplace.job())
        assert line.startswith("job.yaml: TRAINWRIGHT_ATTEMPT: expected ")
        assert line.endswith(" number, from 1, found 'one'")
