"""The calls of Ray Tune during a search: whether it closes, and the loss of a trial's process."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ray import tune
from ray.tune.stopper import Stopper

METRIC = "score"
"""The field of our results that the search algorithms and the schedulers compare."""


class Unsaved:
    """An object that Tune saves with its settings. Nothing reads them: the state of a search is in its log."""

    def __getstate__(self) -> dict[str, Any]:
        return {}


class Closing(Unsaved, Stopper):
    """Stops all trials when the search closes. Tune asks in each round of its loop, so it is also the tick."""

    def __init__(self, tick: Callable[[], None], is_closing: Callable[[], bool]) -> None:
        self._tick, self._is_closing = tick, is_closing

    def __call__(self, trial_id: str, result: dict[str, Any]) -> bool:  # noqa: ARG002 (the interface of Ray)
        return False

    def stop_all(self) -> bool:
        self._tick()
        return self._is_closing()


class Recoveries(Unsaved, tune.Callback):
    """Logs the loss of a trial's process. Tune starts the trial again."""

    def __init__(self, notice: Callable[[str], None]) -> None:
        self._notice = notice

    def on_trial_recover(self, iteration: int, trials: list[Any], trial: Any, **info: Any) -> None:  # noqa: ARG002
        name = trial.config["trial"]["name"]
        self._notice(f"the process of trial {name} is lost: it starts again from its newest checkpoint")
