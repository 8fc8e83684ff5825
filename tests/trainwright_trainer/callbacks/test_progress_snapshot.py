from __future__ import annotations

import math
from dataclasses import replace

import pytest

from trainwright_api.resource.messages import Derived, ProgressMessage, Score
from trainwright_trainer.callbacks.events import Checkpointed, Searched, TrialRow
from trainwright_trainer.callbacks.progress_snapshot import MOST_NUMBERS, ProgressSnapshot, flat

from .conftest import ROWS


def message_after(now, *events):
    snapshot = ProgressSnapshot("train")
    for time, event in events:
        snapshot.on_event(event, time)
    return snapshot.message(now)


def test_before_anything_is_known():
    assert message_after(0.0) == ProgressMessage(stage="train")


def test_what_was_derived_and_where_it_starts(started):
    message = message_after(0.0, (0.0, started(pass_rows=256, learning_rate_factor=2.0)))
    assert message == ProgressMessage(
        stage="train",
        fraction=0.0,
        epoch=1,
        epochs=20,
        start_position=0,
        resolved=Derived(batch_size=256, global_batch_size=1024, learning_rate_factor=2.0),
    )


@pytest.mark.parametrize(
    ("epoch", "step", "position"),
    [(0, 3, 3 * 1024), (1, 231, ROWS), (0, 231, ROWS), (2, 2 * 231 + 1, 2 * ROWS + 1024)],
)
def test_the_row_that_a_resumed_attempt_starts_from(started, epoch, step, position):
    message = message_after(0.0, (0.0, started(epoch=epoch, step=step)))
    assert message.start_position == position
    assert message.fraction == position / (20 * ROWS)


def test_speed_and_the_time_left(started, stepped):
    message = message_after(10.0, (0.0, started()), (0.0, stepped(0, 1024)), (10.0, stepped(0, 101_024)))
    assert message.rows_per_second == 10_000
    assert message.epoch == 1
    assert message.fraction == pytest.approx(101_024 / (20 * ROWS))
    assert message.eta_seconds == pytest.approx((20 * ROWS - 101_024) / 10_000)


def test_the_fraction_is_one_of_train_steps(started, stepped):
    """231 steps are an epoch. The rest of the last one is not trained."""
    half = message_after(10.0, (0.0, started(epochs=1, total_steps=100)), (0.0, stepped(0, 51_200)))
    assert half.fraction == pytest.approx(0.5)
    resumed = message_after(0.0, (0.0, started(epochs=2, total_steps=331, epoch=1, step=331)))
    assert resumed.fraction == 1.0


def test_what_is_not_known_yet_is_absent(started, stepped):
    message = message_after(0.0, (0.0, started()), (0.0, stepped(0, 1024)))
    assert (message.rows_per_second, message.eta_seconds) == (None, None)


def test_the_newest_metrics_and_the_one_that_decides(started, evaluated):
    message = message_after(0.0, (0.0, started()), (1.0, evaluated(0, 0.5, 0.7)), (2.0, evaluated(1, 0.4, 0.75)))
    assert message.metrics == {
        "train.combined.loss": 0.405,
        "train.late.loss": 0.405,
        "validation.combined.loss": 0.4,
        "validation.late.loss": 0.4,
        "validation.late.roc_auc": 0.75,
    }
    assert message.validation_metric == Score(name="roc_auc", value=0.75)
    assert message.rows_per_second is None


def test_the_slowest_ranks_and_the_one_that_holds_the_others_up(started, evaluated, ranks):
    many = (*ranks, *(replace(ranks[0], rank=rank, own_seconds=0.0123456789) for rank in range(3, 20)))
    message = message_after(0.0, (0.0, started()), (1.0, evaluated(0, 0.5, 0.7, ranks=many)))
    assert [one.rank for one in message.ranks] == [1, 2, 0, 3, 4, 5, 6, 7]
    assert message.ranks[3].own_seconds == 0.012346
    assert message.straggler.startswith("rank 1 (flights-w-b) delays the others: its gradients take 48 ms a step")
    alone = message_after(0.0, (0.0, started()), (1.0, evaluated(0, 0.5, 0.7, ranks=ranks[:1])))
    assert ([one.rank for one in alone.ranks], alone.straggler) == ([0], None)


def test_of_several_outputs_the_metric_is_reported_with_its_own(started, evaluated):
    several = started(outputs={"late": "binary", "delay": "number"})
    assert message_after(0.0, (0.0, several), (1.0, evaluated(0, 0.5, 0.7))).validation_metric == Score(
        name="late.roc_auc", value=0.7
    )


def test_no_number_that_json_lacks(started, evaluated):
    message = message_after(0.0, (0.0, started()), (1.0, evaluated(0, math.inf, math.nan)))
    assert message.metrics == {}
    assert message.validation_metric is None


def test_the_newest_checkpoint_that_is_whole(started):
    whole, torn = Checkpointed("0000000231-1"), Checkpointed("0000000462-1", "the disk is full")
    assert message_after(0.0, (0.0, started()), (1.0, whole), (2.0, torn)).last_checkpoint == "0000000231-1"


def test_at_the_end_all_is_done(started, stepped, ended):
    early = message_after(9.0, (0.0, started()), (0.0, stepped(0, 1024)), (9.0, stepped(0, 2048)), (9.0, ended))
    assert (early.fraction, early.eta_seconds) == (1.0, 0.0)


def test_a_name_or_a_number_too_many_is_left_out():
    scores = {"a" * 300: {"loss": 1.0}, **{f"output {number}": {"loss": 1.0} for number in range(1000)}}
    found = flat(scores)
    assert len(found) == MOST_NUMBERS
    assert all(len(name) <= 256 for name in found)


ROW = TrialRow("0002", 0.75, "done", "rate 0.1", "out/trials/0002")


def test_a_search_is_its_trials():
    event = Searched("roc_auc", 12, 3, 1, 2, (ROW,), 90.0)
    message = message_after(0.0, (0.0, event))
    assert (message.fraction, message.eta_seconds) == (0.25, 90.0)
    assert message.validation_metric == Score(name="roc_auc", value=0.75)
    assert (message.trials.finished, message.trials.failed, message.trials.running) == (3, 1, 2)
    assert message.trials.best[0].folder == "out/trials/0002"
    ended = message_after(0.0, (0.0, replace(event, ended=True)))
    assert (ended.fraction, ended.eta_seconds) == (1.0, 0.0)


def test_a_search_without_a_limit_or_a_score_leaves_them_out():
    message = message_after(0.0, (0.0, Searched("loss", None, 0, 0, 1, (), math.inf)))
    assert (message.fraction, message.eta_seconds, message.validation_metric) == (None, None, None)
    assert (message.trials.total, message.trials.best) == (None, None)


def test_a_trial_whose_score_is_no_finite_number_is_left_out():
    diverged = replace(ROW, name="0003", score=math.inf)
    message = message_after(0.0, (0.0, Searched("loss", 3, 2, 0, 1, (ROW, diverged), 90.0)))
    assert [trial.name for trial in message.trials.best] == [ROW.name]
