"""The searcher that Ray Tune sees: it writes each event to the log of the search before the search depends on it.

A search that continues first tells the search algorithm all logged events in their order. The trials of the log are
then the first that Tune gets: each reports its known rounds again, which rebuilds the rungs of the scheduler, and
only those without an end train. Events that the log has already are not reported twice.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from typing import Any

from ray.tune.search.searcher import Searcher

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import Outcome
from trainwright_trainer.search.log import SearchLog
from trainwright_trainer.search.ray_tune.hooks import METRIC, Unsaved
from trainwright_trainer.search.trials import Trial, replaced, running

LOST = "its process ended without a result, several times: it was killed, or the machine has too little memory"
MOST_FAILURES = 10
"""After so many failed trials of one process, and no other with a score, a search begins no more trials."""
_BEGIN, _END = 0, -1
_MEASURED = ("epoch", "step", "seconds", "latest", "is_last")
_FAILED = ("mistake", "environment", "crash")


class RecordedSearcher(Unsaved, Searcher):
    """`decode`: the values of a suggestion; `end_of`: how a trial's process ended; `most`: the number of trials.

    `saw` is called with a trial and the number of each round that Tune gets, also again.
    """

    def __init__(
        self,
        inner: Searcher,
        mode: str,
        log: SearchLog,
        *,
        decode: Callable[[Mapping[str, Any]], dict[str, Any]],
        end_of: Callable[[str], Outcome | None],
        saw: Callable[[str, int], None],
        most: int | None,
        is_closing: Callable[[], bool],
    ) -> None:
        super().__init__(METRIC, mode)
        self._inner, self._log, self._decode, self._end_of = inner, log, decode, end_of
        self._saw, self._most, self._is_closing = saw, most, is_closing
        self._names: dict[str, str] = {}
        self._failures = 0
        self._again = deque(log.trials)
        _replay(inner, log)

    def suggest(self, trial_id: str) -> Any:
        if self._again:
            return self._given(trial_id, self._again.popleft())
        if self._is_closing() or (self._most is not None and len(self._log.trials) >= self._most):
            return Searcher.FINISHED
        if self._only_fails():
            return None if running(self._log.trials) else Searcher.FINISHED
        found = self._new()
        return found if found is None or isinstance(found, str) else self._given(trial_id, found)

    def _only_fails(self) -> bool:
        if self._failures < MOST_FAILURES:
            return False
        return not any(trial.scores and trial.state != "failed" for trial in self._log.trials)

    def _new(self) -> Trial | str | None:
        """The next trial of the search algorithm. Without one, its word, or None."""
        suggestion = self._inner.suggest(self._log.next_id())
        if suggestion is None or isinstance(suggestion, str):
            return suggestion
        return self._log.add(self._decode(suggestion), suggestion)

    def on_trial_result(self, trial_id: str, result: dict[str, Any]) -> None:
        name = self._names[trial_id]
        if METRIC not in result:
            return
        self._saw(name, result["round"])
        if result["round"] <= self._log.trial(name).rounds or self._is_closing():
            return
        plain = {key: result[key] for key in _MEASURED}
        self._log.add_score(name, round_=result["round"], value=result[METRIC], **plain)
        self._inner.on_trial_result(name, _result_of(self._log.trial(name), len(self._log.trial(name).scores)))

    def on_trial_complete(self, trial_id: str, result: dict[str, Any] | None = None, error: bool = False) -> None:
        """Without an end of its process, the scheduler has stopped the trial, unless that was after its last round. A
        search that closes ends no trial.

        Tune gives the result after which a trial is stopped only here.
        """
        if result is not None:
            self.on_trial_result(trial_id, result)
        trial = self._log.trial(self._names[trial_id])
        if trial.end is not None or (self._is_closing() and self._end_of(trial.id) is None):
            return
        found = self._end_of(trial.id)
        if error and found is None:
            found = Outcome("environment", LOST)
        if trial.id in replaced(self._log.trials):
            self._log.end(trial.id, "replaced")
        elif found is not None and found.kind in _FAILED:
            self._failures += 1
            self._log.end(trial.id, "failed", found.line, mistake=found.kind == "mistake")
        else:
            is_done = found is not None or trial.is_trained
            self._log.end(trial.id, "done" if is_done else "stopped")
        _tell_end(self._inner, self._log.trial(trial.id))

    def on_pause(self, trial_id: str) -> None:
        """Does nothing, as `on_unpause`: hb_bohb calls it. A search algorithm does not limit the trials that run."""

    def on_unpause(self, trial_id: str) -> None:
        """See `on_pause`."""

    def save(self, checkpoint_path: str) -> None:
        """Does nothing: the state is in the log."""

    def _given(self, trial_id: str, trial: Trial) -> dict[str, Any]:
        """The configuration of Tune's trial. `known`: the scores of a trial that has ended, which it reports again."""
        self._names[trial_id] = trial.id
        known = None if trial.end is None else [{METRIC: one.value, **_plain(one)} for one in trial.scores]
        origin = [] if trial.origin is None else [asdict(trial.origin)]
        return {"trial": {"name": trial.id, "values": [dict(trial.values)], "known": known, "origin": origin}}


def _plain(score: Any) -> dict[str, Any]:
    return {key: value for key, value in asdict(score).items() if key in ("round", *_MEASURED)}


def _replay(inner: Searcher, log: SearchLog) -> None:
    """Tell the search algorithm all events of the log. Raises `Mistakes` if it suggests other values than before."""
    for _, trial, number in sorted(_events(log), key=lambda event: event[0]):
        if number == _BEGIN:
            _suggest_again(inner, trial)
        elif number == _END:
            _tell_end(inner, trial)
        else:
            inner.on_trial_result(trial.id, _result_of(trial, number))


def _events(log: SearchLog) -> Iterator[tuple[int, Trial, int]]:
    """The order, the trial and the number of the score of each event. `_BEGIN` and `_END` are no scores.

    The search algorithm does not know the trials with an origin, because it has not suggested them.
    """
    for trial in (one for one in log.trials if one.origin is None):
        yield trial.order, trial, _BEGIN
        for number, score in enumerate(trial.scores, 1):
            yield score.order, trial, number
        if trial.end is not None:
            yield trial.end.order, trial, _END


def _suggest_again(inner: Searcher, trial: Trial) -> None:
    if inner.suggest(trial.id) != trial.suggestion:
        line = f"the search algorithm does not repeat its trial {trial.id}: use the versions that began the search"
        raise Mistakes.one("config.hyperopt.search_alg", line)


def _tell_end(inner: Searcher, trial: Trial) -> None:
    """A trial that failed, or that has no score, is an error for the search algorithm."""
    if not trial.scores or trial.state == "failed":
        inner.on_trial_complete(trial.id, error=True)
    else:
        inner.on_trial_complete(trial.id, _result_of(trial, len(trial.scores)))


def _result_of(trial: Trial, number: int) -> dict[str, Any]:
    """The result that the search algorithm gets: the same for a replay as for the first time.

    BOHB compares results of the same budget, which is the number of the round.
    """
    score = trial.scores[number - 1]
    position = {"training_iteration": number, "hyperband_info": {"budget": number}}
    return {METRIC: score.value, "time_total_s": score.seconds, **position}
