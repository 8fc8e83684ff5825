"""The operator is gone, broken or silent. Training is the same, and its outcome is reported as soon as possible."""

from __future__ import annotations

import json
import signal

import pytest
from testkit.server.listening import GO_ON, HANG, listening

STOPPED = 75
STEPS = 60


@pytest.fixture
def operator(tmp_path):
    with listening(tmp_path) as found:
        yield found


def start(run, operator, attempt=1):
    """Start `trainwright run` as the operator does in a pod."""
    variables = {"ATTEMPT": str(attempt), "STAGE": "train", "UID": "abc", "RUN": str(run.run)}
    environment = {f"TRAINWRIGHT_{name}": value for name, value in variables.items()} | operator.environment
    environment["TRAINWRIGHT_ROW_LOG"] = str(run.job.with_name(f"{run.run.name}-{len(run.children)}.rows"))
    child = run.driver.start(run.job.parent, "run", run.job.name, environment=environment)
    run.children.append(child)
    return child


def short(spec):
    spec["config"]["trainer"]["train_steps"] = STEPS


def failing(answer):
    """Answer every report with `answer`, except from the second report of an outcome on."""
    outcomes = []

    def answers(report):
        if "outcome" in report.body:
            outcomes.append(report)
        return GO_ON if len(outcomes) > 1 else answer

    return answers


@pytest.mark.parametrize("answer", [(500, {"message": "no"}), (HANG, None)])
def test_an_operator_that_answers_nothing_of_use(place, operator, lines, undisturbed, answer):
    operator.answer = failing(answer)
    run = place(short)
    child = start(run, operator)
    assert child.wait() == 0, child.errors
    assert run.joined() == undisturbed.joined()[:STEPS]
    assert [outcome["class"] for outcome in operator.outcomes] == ["done", "done"]
    notices = [line for line in lines(child.output) if "the operator" in line]
    assert len(notices) == 1
    assert notices[0].startswith("progress reports do not reach the operator: ")
    assert lines(child.errors) == []


def test_an_operator_that_refuses(place, operator, lines, undisturbed):
    operator.answer = (403, {"message": "the pod is gone"})
    run = place(short)
    child = start(run, operator)
    assert child.wait() == 0
    assert run.joined() == undisturbed.joined()[:STEPS]
    assert len(operator.outcomes) == 1
    not_sent = "the outcome did not reach the operator: it answers 403: the pod is gone"
    assert lines(child.errors) == [not_sent, "the model is there"]


def test_killed_while_the_operator_is_away(place, operator, assert_same):
    """No outcome is reported. The next attempt still resumes, and reports to the operator once that is back."""
    operator.answer = (HANG, None)
    run = place()
    child = start(run, operator)
    child.until(lambda: len(run.updates(child)) > 60 and run.checkpoints())
    child.kill()
    assert run.outcome(1) is None
    operator.answer = GO_ON
    child = start(run, operator, attempt=2)
    assert child.wait() == 0, child.errors
    assert run.attempts()[1]["checkpoint"] is not None
    assert_same(run)
    assert [(outcome["attempt"], outcome["class"]) for outcome in operator.outcomes] == [(2, "done")]


def test_signals_of_a_pod_that_is_taken_away(place, operator, assert_same):
    """No number of signals ends the process before its checkpoint is written."""
    run = place()
    child = start(run, operator)
    child.until(lambda: len(run.updates(child)) > 30)
    for _ in range(3):
        child.send(signal.SIGTERM)
    assert child.wait() == STOPPED
    (outcome,) = operator.outcomes
    assert outcome["class"] == "stopped"
    assert outcome["line"].startswith("stopped by SIGTERM at epoch ")
    last = run.updates(child)[-1]["step"]
    assert run.checkpoints()[-1].name == f"{last:010d}-1"
    assert json.loads((run.run / "attempts/1/outcome.json").read_text())["line"] == outcome["line"]
    assert start(run, operator, attempt=2).wait() == 0
    assert_same(run)
