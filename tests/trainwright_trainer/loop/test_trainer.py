from __future__ import annotations

import json
import math
import subprocess
import sys

import pytest
import torch

from trainwright_api.problems import Mistakes
from trainwright_api.resource.job import CheckpointPolicy
from trainwright_trainer.job.batching import Batching
from trainwright_trainer.loader.encoded_rows import EncodedRows
from trainwright_trainer.loader.epoch_order import EpochOrder, epoch_order
from trainwright_trainer.loader.materialised import Materialised
from trainwright_trainer.loop.evaluator import evaluate
from trainwright_trainer.loop.step_agreement import LATE_STEPS, StepAgreement, _flags


def rows_seen(path) -> list[list[int]]:
    return [json.loads(line)["rows"] for line in path.read_text().splitlines()]


def test_an_epoch_sees_every_row_once_in_the_order_of_the_law(job, tmp_path, monkeypatch):
    monkeypatch.setenv("TRAINWRIGHT_ROW_LOG", str(tmp_path / "rows"))
    one = job({"epochs": 2})
    one.train(attempt=3)
    seen = rows_seen(tmp_path / "rows")
    for epoch in (0, 1):
        of_epoch = [row for rows in seen[7 * epoch : 7 * epoch + 7] for row in rows]
        assert of_epoch == epoch_order(7, epoch, one.splits["train"].held.rows).tolist()
    assert [len(rows) for rows in seen[:7]] == [16] * 6 + [4]
    assert json.loads((tmp_path / "rows").read_text().splitlines()[9])["step"] == 10


def test_without_should_shuffle_rows_come_as_they_stand(job, tmp_path, monkeypatch):
    monkeypatch.setenv("TRAINWRIGHT_ROW_LOG", str(tmp_path / "rows"))
    job({"epochs": 1, "should_shuffle": False}).train()
    assert [row for rows in rows_seen(tmp_path / "rows") for row in rows] == list(range(100))


class Late(StepAgreement):
    """Votes are read some steps later, as on GPUs."""

    def start(self, *given) -> None:
        super().start(*given)
        flags = torch.tensor([float(flag) for flag in self._ask()])
        self._votes.append(lambda: flags)

    def agreed(self):
        return _flags(self._votes.popleft()) if len(self._votes) > LATE_STEPS else (False, False)


@pytest.mark.parametrize("steps_of_a_round", [1, LATE_STEPS, LATE_STEPS + 1, 20])
def test_a_vote_to_stop_acts_though_each_save_drops_the_votes(job, monkeypatch, steps_of_a_round):
    monkeypatch.setattr("trainwright_trainer.loop.trainer.StepAgreement", Late)
    one = job({"epochs": 20, "early_stop": -1, "steps_per_checkpoint": steps_of_a_round})
    result = one.train(stop=lambda: len(one.listener.steps()) >= 10)
    assert (result.outcome.kind, result.position.step <= 10 + LATE_STEPS + 1) == ("stopped", True)
    assert one.kept.snapshots[-1].position == result.position


def test_training_lowers_the_loss(job):
    one = job({"epochs": 20, "early_stop": -1})
    history = one.train().history
    assert history[-1].scores["train"]["late"]["loss"] < 0.8 * history[0].scores["train"]["late"]["loss"]
    assert history[-1].scores["validation"]["late"]["roc_auc"] > 0.7


def test_the_scores_of_training_are_those_of_the_whole_round(job):
    """Rounds of 3 steps in epochs of 7: two of them cross the end of an epoch."""
    trainer = {"epochs": 3, "early_stop": -1, "steps_per_checkpoint": 3, "should_shuffle": False, "learning_rate": 1e-9}
    one = job({**trainer, "precision": "float64"})
    rounds = one.train().history
    step = job({**trainer, "precision": "float64", "steps_per_checkpoint": 1}).train().history
    losses = [each.scores["train"]["late"]["loss"] for each in step]
    rows = [16, 16, 16, 16, 16, 16, 4] * 3
    for number, found in enumerate(rounds[:6]):
        part = slice(3 * number, 3 * number + 3)
        mean = sum(loss * count for loss, count in zip(losses[part], rows[part], strict=True)) / sum(rows[part])
        assert found.scores["train"]["late"]["loss"] == pytest.approx(mean, rel=1e-6)


def test_the_loss_decides_a_plateau_where_the_rows_do_not_define_the_metric(job):
    """Only one class: no roc_auc. The rates are those of a plateau of the loss."""
    rates = []
    for metric in ("roc_auc", "loss"):
        section = {"reduce_on_plateau": 9, "reduce_on_plateau_patience": 0, "reduce_eval_split": "validation"}
        scheduler = {**section, "reduce_eval_metric": metric}
        one = job({"epochs": 6, "learning_rate": 0.5, "early_stop": -1, "learning_rate_scheduler": scheduler})
        one.splits["validation"].held.floats[:, 2] = 1
        rates.append([each.learning_rate for each in one.train().history])
    assert rates[0] == rates[1]
    assert 1 < len(set(rates[0])) < 6


def test_passes_sum_to_the_whole_batch(job):
    """In float64 the weights after 14 steps agree to rounding for every cut of the global batch into passes."""
    ends = []
    for pass_rows in (32, 10, 1):
        one = job({"precision": "float64", "regularization_lambda": 0.01})
        one.train(batches=Batching(32, pass_rows, 0.01))
        ends.append(torch.cat([value.flatten() for value in one.weights().values()]))
    assert torch.allclose(ends[0], ends[1], rtol=0, atol=1e-12)
    assert torch.allclose(ends[0], ends[2], rtol=0, atol=1e-12)


def test_a_root_of_a_mean_is_not_cut_into_passes(job):
    outputs = [{"name": "late", "type": "binary"}]
    number = [*outputs, {"name": "delay", "type": "number", "loss": {"type": "root_mean_squared_error"}}]
    with pytest.raises(Mistakes, match="root of a mean over the whole batch, and this batch is cut into 2 passes"):
        job({}, outputs=number).train(batches=Batching(32, 16, 0.01))
    assert job({"epochs": 1}, outputs=number).train().outcome.reason == "epochs"


def test_rounds_and_checkpoints_lie_where_the_config_puts_them(job):
    for trainer, expected in (
        ({}, [7, 14]),
        ({"checkpoints_per_epoch": 2}, [3, 6, 9, 12, 14]),
        ({"steps_per_checkpoint": 5}, [5, 10, 14]),
        ({"train_steps": 9}, [7, 9]),
        ({"skip_all_evaluation": True}, []),
    ):
        one = job(trainer)
        one.train()
        assert [event.step for event in one.listener.rounds()] == expected
        assert [s.position.step for s in one.kept.snapshots] == (expected or [7, 14])


def test_a_round_is_scored_and_a_timed_checkpoint_is_not(job, ticks):
    one = job({"epochs": 1})
    one.train(policy=CheckpointPolicy(every_seconds=1), clock=ticks())
    assert [s.score is not None for s in one.kept.snapshots] == [False] * 6 + [True]
    last = one.kept.snapshots[-1]
    assert last.score == one.listener.rounds()[-1].scores["validation"]["combined"]["loss"]


def test_a_checkpoint_that_was_asked_for_comes_at_once_and_once(job):
    one = job({"epochs": 2})
    counts = dict.fromkeys(range(3, 9), 1) | dict.fromkeys(range(9, 20), 3)
    one.train(saves=lambda: counts.get(len(one.listener.steps()), 0))
    assert [s.position.step for s in one.kept.snapshots] == [3, 7, 9, 14]


def test_events_say_how_far_it_is(job):
    one = job({"epochs": 2})
    one.train()
    steps = one.listener.steps()
    assert [(e.epoch, e.step, e.epoch_rows, e.train_rows) for e in steps][5:9] == [
        (0, 6, 96, 100),
        (0, 7, 100, 100),
        (1, 8, 16, 100),
        (1, 9, 32, 100),
    ]
    assert [e.epoch for e in one.listener.rounds()] == [0, 1]
    assert all(e.rows_per_second > 0 for e in one.listener.rounds())


def test_the_model_ends_with_the_weights_of_its_best_round(job):
    one = job({"epochs": 40, "learning_rate": 0.5, "early_stop": 3, "validation_metric": "loss"})
    result = one.train()
    assert result.outcome.reason == "early stopping"
    assert [e.best for e in result.history][-3:] == [False] * 3
    best = min(result.history, key=lambda e: e.scores["validation"]["late"]["loss"])
    assert (best.step, best.epoch) == (result.best_step, result.best_epoch)
    scores = evaluate(one.model, one.splits["validation"], 16, one.metrics())
    assert scores == best.scores["validation"]


def test_the_loss_decides_where_the_validation_rows_do_not_define_the_metric(job):
    """They have one class, so roc_auc has no value in any round."""
    one = job({"epochs": 40, "learning_rate": 0.5, "early_stop": 3})
    one.splits["validation"].held.floats[:, 2] = 1
    result = one.train()
    losses = [e.scores["validation"]["late"]["loss"] for e in result.history]
    assert result.outcome.reason == "early stopping"
    assert result.best_epoch == losses.index(min(losses))
    assert result.best_epoch > 0
    assert result.history[-4].best


def test_without_validation_rows_the_newest_is_the_best(job):
    one = job({"epochs": 3, "early_stop": 1}, sizes={"train": 50, "validation": 0, "test": 0})
    result = one.train()
    assert (result.outcome.reason, result.best_step) == ("epochs", result.position.step)
    assert all("validation" not in e.scores for e in result.history)


def test_evaluation_drops_and_repeats_no_row(job):
    one = job()
    whole = evaluate(one.model, one.splits["test"], 30, one.metrics())
    for size in (1, 7, 29, 1000):
        scores = evaluate(one.model, one.splits["test"], size, one.metrics())
        assert scores["late"] == pytest.approx(whole["late"], abs=1e-6)


def test_eval_steps_bounds_the_rounds(job):
    one = job({"epochs": 1, "eval_steps": 1, "eval_batch_size": 5})
    one.train()
    first = one.splits["validation"].held
    few = Materialised(EncodedRows(first.floats[:5], first.ints[:5], first.rows[:5]), EpochOrder(7))
    assert one.listener.rounds()[-1].scores["validation"] == evaluate(one.model, few, 5, one.metrics())


@pytest.mark.parametrize("where", ["gradient", "loss"])
def test_a_loss_that_is_no_number_ends_the_run_and_keeps_the_last_good_checkpoint(job, where, ticks):
    one = job({"epochs": 3})
    train = one.splits["train"].held
    bad = epoch_order(7, 1, train.rows)[40]  # in the third batch of the second epoch
    train.floats[:, 0].masked_fill_(torch.from_numpy(train.rows == bad), math.inf if where == "loss" else math.nan)
    good = epoch_order(7, 0, train.rows).tolist().index(bad) // 16 + 1
    with pytest.raises(Mistakes, match=rf"the loss is not a number at step {good} \(epoch 1\)"):
        one.train(policy=CheckpointPolicy(every_seconds=1), clock=ticks())
    assert [s.position.step for s in one.kept.snapshots] == list(range(1, good))
    assert all(value.isfinite().all() for value in one.weights().values())


def test_frozen_parameters_stay_as_they_are(job):
    one = job({"epochs": 1, "layers_to_freeze_regex": "^encoders"})
    before = one.weights()
    one.train()
    for name, value in one.weights().items():
        fixed = name.startswith("encoders") or ".start." in name
        assert torch.equal(value, before[name]) == fixed, name


def test_biases_alone_are_trained_without_a_penalty(job):
    ends = []
    for factor in (0.1, 0.0):
        one = job({"epochs": 1, "layers_to_freeze_regex": "weight", "regularization_lambda": factor})
        before = one.weights()
        one.train()
        ends.append(one.weights())
        changed = {name for name, value in ends[-1].items() if not torch.equal(value, before[name])}
        assert changed == {name for name in before if name.endswith(".bias")}
    assert all(torch.equal(value, ends[1][name]) for name, value in ends[0].items())


@pytest.mark.parametrize(("pattern", "word"), [("nothing_like_it", "none"), (".", "all")])
def test_a_pattern_that_freezes_nothing_or_everything_is_a_mistake(job, pattern, word):
    with pytest.raises(Mistakes, match=f"matches {word} of the parameters"):
        job({"layers_to_freeze_regex": pattern}).train()


def test_a_run_never_imports_the_compiler(tmp_path):
    """torch._dynamo takes seconds to import, and only `compile: true` needs it."""
    code = (
        "import sys, torch\n"
        "from trainwright_api.config.optimizers import Adam\n"
        "from trainwright_trainer.optim.optimizers import make_optimizer\n"
        "from trainwright_trainer.loop import trainer\n"
        "model = torch.nn.Linear(2, 1)\n"
        "optimizer = make_optimizer(Adam(), model.parameters(), 0.1)\n"
        "model(torch.ones(3, 2)).sum().backward()\n"
        "optimizer.step()\n"
        "sys.exit('torch._dynamo' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=False).returncode == 0
