"""The searcher that Tune sees writes each event first, and a new one continues from the events."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ray.tune.search.searcher import Searcher

from trainwright_api.config.hyperopt import HyperoptConfig
from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import Outcome
from trainwright_trainer.search.log import SearchLog
from trainwright_trainer.search.ray_tune.recorded import MOST_FAILURES, RecordedSearcher
from trainwright_trainer.search.ray_tune.searchers import searcher_of
from trainwright_trainer.storage.local import FolderStorage

RATE = {"space": "loguniform", "lower": 0.001, "upper": 0.1}
SEARCH = HyperoptConfig.model_validate({"parameters": {"rate": RATE}, "search_alg": "optuna"})


class Told(Searcher):
    """A search algorithm that notes what it is told, in front of Optuna."""

    def __init__(self, seed: int = 42) -> None:
        super().__init__("score", "max")
        self.inner, self.events = searcher_of(SEARCH, "max", seed), []

    def suggest(self, trial_id: str) -> Any:
        self.events.append(("suggest", trial_id))
        return self.inner.suggest(trial_id)

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        self.events.append(("result", trial_id, result["score"], result["training_iteration"]))
        self.inner.on_trial_result(trial_id, result)

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        self.events.append(("complete", trial_id, None if result is None else result["score"], error))
        self.inner.on_trial_complete(trial_id, result, error)


def measured(number: int, score: float) -> dict[str, Any]:
    """The fields of a result beside the score."""
    position = {"round": number, "epoch": number - 1, "step": number, "seconds": float(number)}
    return {**position, "latest": score, "is_last": False}


class Search:
    """A search in a folder. `ends`: how the processes of trials ended; `closing`: a stop is requested."""

    def __init__(self, folder: Path, *, seed: int = 42, most: int | None = None) -> None:
        storage = FolderStorage(folder)
        self.log = SearchLog.read(storage)
        self.ends: dict[str, Outcome] = {}
        self.closing = False
        self.seen_rounds: list[tuple[str, int]] = []
        self.inner = Told(seed)
        self.seen = RecordedSearcher(
            self.inner,
            "max",
            self.log,
            decode=lambda suggestion: {"rate": suggestion["p0"]},
            end_of=self.ends.get,
            saw=lambda name, number: self.seen_rounds.append((name, number)),
            most=most,
            is_closing=lambda: self.closing,
        )

    def suggest(self, tune_id: str) -> Any:
        found = self.seen.suggest(tune_id)
        return found if isinstance(found, str) else found["trial"]

    def fail(self, tune_id: str) -> None:
        """Begin a trial and end it with a failure."""
        name = self.suggest(tune_id)["name"]
        self.result(tune_id, 1, 0.5)
        self.ends[name] = Outcome("environment", "full")
        self.seen.on_trial_complete(tune_id, None)

    def result(self, tune_id: str, number: int, score: float) -> dict[str, Any]:
        result = {"score": score, **measured(number, score)}
        self.seen.on_trial_result(tune_id, result)
        return result


def test_a_suggestion_is_written_before_tune_gets_it(tmp_path):
    given = Search(tmp_path).suggest("t1")
    [trial] = SearchLog.read(FolderStorage(tmp_path)).trials
    assert given == {"name": "0001", "values": [dict(trial.values)], "known": None, "origin": []}


def test_the_last_result_of_a_stopped_trial_counts(tmp_path):
    search = Search(tmp_path)
    search.suggest("t1")
    search.seen.on_trial_complete("t1", {"score": 0.5, **measured(1, 0.5)})
    [trial] = search.log.trials
    assert (trial.state, trial.score) == ("stopped", 0.5)
    assert search.inner.events[1:] == [("result", "0001", 0.5, 1), ("complete", "0001", 0.5, False)]


def test_a_trial_that_is_stopped_after_its_last_round_is_done(tmp_path):
    """As asha does after `max_t` rounds, when the trial has no more to train."""
    search = Search(tmp_path)
    search.suggest("t1")
    search.seen.on_trial_complete("t1", {"score": 0.5, **measured(1, 0.5), "is_last": True})
    assert search.log.trials[0].state == "done"


@pytest.mark.parametrize(
    ("end", "error", "state", "line"),
    [
        (Outcome("done", ""), False, "done", ""),
        (Outcome("mistake", "config.x: wrong"), False, "failed", "config.x: wrong"),
        (None, True, "failed", "its process ended without a result"),
        (None, False, "stopped", ""),
    ],
)
def test_the_end_of_a_trial_is_that_of_its_process(tmp_path, end, error, state, line):
    search = Search(tmp_path)
    search.suggest("t1")
    search.result("t1", 1, 0.5)
    if end is not None:
        search.ends["0001"] = end
    search.seen.on_trial_complete("t1", None, error)
    [trial] = search.log.trials
    assert (trial.state, trial.end.line.startswith(line), trial.end.mistake) == (
        state,
        True,
        state == "failed" and not error,
    )
    assert search.inner.events[-1] == ("complete", "0001", *((None, True) if state == "failed" else (0.5, False)))


def test_a_search_that_closes_ends_no_trial_and_begins_none(tmp_path):
    search = Search(tmp_path)
    search.suggest("t1")
    search.closing = True
    search.seen.on_trial_complete("t1", None)
    assert search.log.trials[0].end is None
    assert search.suggest("t2") == Searcher.FINISHED


def test_the_number_of_trials_is_a_limit_for_all_processes_together(tmp_path):
    first = Search(tmp_path, most=2)
    first.suggest("t1")
    again = Search(tmp_path, most=2)
    assert [again.suggest(f"u{n}") if n > 2 else again.suggest(f"u{n}")["name"] for n in (1, 2, 3)] == [
        "0001",
        "0002",
        Searcher.FINISHED,
    ]


def test_a_search_whose_first_trials_all_fail_ends_when_no_trial_runs(tmp_path):
    search = Search(tmp_path)
    search.suggest("running")
    for number in range(MOST_FAILURES):
        search.fail(f"t{number}")
    assert search.seen.suggest("next") is None
    search.seen.on_trial_complete("running", None, error=True)
    assert search.suggest("next") == Searcher.FINISHED


def test_a_search_with_one_score_goes_on_after_any_number_of_failures(tmp_path):
    search = Search(tmp_path)
    search.suggest("scored")
    for number in range(MOST_FAILURES):
        search.fail(f"t{number}")
    search.result("scored", 1, 0.5)
    assert search.suggest("next")["name"] == f"{MOST_FAILURES + 2:04d}"


def test_a_search_that_is_started_again_tries_again(tmp_path):
    first = Search(tmp_path)
    for number in range(MOST_FAILURES):
        first.fail(f"t{number}")
    again = Search(tmp_path)
    for number in range(MOST_FAILURES):
        again.suggest(f"u{number}")
        again.seen.on_trial_complete(f"u{number}", None)
    assert again.suggest("next")["known"] is None


def played(search: Search, *, restart: Any = None) -> Search:
    """Five trials in a mixed order. `restart` replaces the search after some events."""
    restart = restart or (lambda now: now)
    for name in ("t1", "t2"):
        search.suggest(name)
    search.result("t2", 1, 0.3)
    search = restart(search)
    search.result("t1", 1, 0.6)
    search.result("t1", 2, 0.7)
    search.ends["0001"] = Outcome("done", "")
    search.seen.on_trial_complete("t1", None)
    search.suggest("t3")
    search = restart(search)
    search.ends["0003"] = Outcome("mistake", "wrong")
    search.seen.on_trial_complete("t3", None)
    search.seen.on_trial_complete("t2", None)
    search = restart(search)
    search.suggest("t4")
    search.result("t4", 1, 0.8)
    search.suggest("t5")
    return search


def test_a_search_that_is_killed_between_events_goes_on_as_if_it_was_not(tmp_path):
    whole = played(Search(tmp_path / "whole"))

    def restart(_: Search) -> Search:
        again = Search(tmp_path / "killed")
        for trial in again.log.trials:
            again.suggest(f"t{int(trial.id)}")
        return again

    killed = played(Search(tmp_path / "killed"), restart=restart)
    assert [(one.values, one.scores and one.score, one.state) for one in killed.log.trials] == [
        (one.values, one.scores and one.score, one.state) for one in whole.log.trials
    ]
    assert killed.inner.events == whole.inner.events


def test_known_results_are_not_told_twice(tmp_path):
    first = Search(tmp_path)
    first.suggest("t1")
    first.result("t1", 1, 0.5)
    again = Search(tmp_path)
    assert again.suggest("u1")["known"] is None
    again.result("u1", 1, 0.5)
    again.result("u1", 2, 0.6)
    told = [event for event in again.inner.events if event[0] == "result"]
    assert told == [("result", "0001", 0.5, 1), ("result", "0001", 0.6, 2)]
    assert [score.value for score in again.log.trials[0].scores] == [0.5, 0.6]


def test_a_trial_that_has_ended_gets_its_scores_to_report_again(tmp_path):
    first = Search(tmp_path)
    first.suggest("t1")
    first.result("t1", 1, 0.5)
    first.seen.on_trial_complete("t1", None)
    given = Search(tmp_path).suggest("u1")
    assert given["known"] == [{"score": 0.5, **measured(1, 0.5)}]


def test_a_search_algorithm_that_does_not_repeat_itself_is_refused(tmp_path):
    Search(tmp_path).suggest("t1")
    with pytest.raises(Mistakes, match="the search algorithm does not repeat its trial 0001"):
        Search(tmp_path, seed=43)


def test_each_round_that_tune_gets_is_seen_also_again(tmp_path):
    first = Search(tmp_path)
    first.suggest("t1")
    first.result("t1", 1, 0.5)
    again = Search(tmp_path)
    again.suggest("u1")
    again.result("u1", 1, 0.5)
    again.result("u1", 2, 0.6)
    assert again.seen_rounds == [("0001", 1), ("0001", 2)]
