"""The state of a search: every event is in the folder at once, and a new process reads the same."""

from __future__ import annotations

import pytest

from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.search.log import SearchLog, Turn, read_about


def test_a_folder_without_a_search_has_none(storage):
    assert read_about(storage) is None


def test_each_event_can_be_read_at_once(storage, log, clock):
    log.add({"rate": 0.1}, {"p0": 0.1})
    clock.now = 2.0
    log.add_score("0001", round_=1, epoch=0, step=5, value=0.25, seconds=1.5)
    assert SearchLog.read(storage).trials == log.trials
    log.end("0001", "failed", "no such file", mistake=True)
    [found] = SearchLog.read(storage).trials
    assert found == log.trials[0]
    assert (found.state, found.score, found.end.line, found.end.mistake) == ("failed", 0.25, "no such file", True)


def test_a_float_is_read_bit_for_bit(storage, log):
    log.add({"rate": 0.1 + 0.2}, {"p0": 0.1 + 0.2})
    assert SearchLog.read(storage).trial("0001").values == {"rate": 0.30000000000000004}


def test_events_of_all_trials_have_one_order_which_goes_on(storage, log):
    log.add({}, {})
    log.add({}, {})
    log.add_score("0001", round_=1, epoch=0, step=1, value=1.0, seconds=1.0)
    again = SearchLog.read(storage)
    assert again.next_id() == "0003"
    again.end("0002", "done")
    first, second = again.trials
    assert [first.order, second.order, first.scores[0].order, second.end.order] == [1, 2, 3, 4]


def test_time_goes_on_where_the_last_event_was(storage, log, clock):
    clock.now = 7.0
    log.add({}, {})
    clock.now = 100.0
    again = SearchLog.read(storage, clock=clock)
    assert again.seconds == 7.0
    clock.now = 101.5
    assert again.seconds == 8.5


def test_each_change_is_told(storage):
    told = []
    log = SearchLog.begin(storage, {"name": "job"})
    log.listen(told.append)
    log.add({}, {})
    log.end("0001", "stopped")
    assert [trial.state for trial in told] == ["running", "stopped"]
    assert read_about(storage) == {"format": 1, "name": "job"}


def test_a_later_process_takes_the_turn(storage):
    first = SearchLog.read(storage, turn=Turn(storage, None))
    first.add({}, {})
    second = SearchLog.read(storage, turn=Turn(storage, None))
    with pytest.raises(EnvironmentFailure, match="a later process goes on with this search"):
        first.add({}, {})
    second.add({}, {})
    assert [trial.id for trial in SearchLog.read(storage).trials] == ["0001", "0002"]


def test_an_attempt_of_the_operator_begins_once(storage):
    Turn(storage, 3)
    with pytest.raises(EnvironmentFailure, match="another process has just begun to search here"):
        Turn(storage, 3)
    Turn(storage, 5).check()
