"""Progress as short text for the columns of `kubectl get`."""

from __future__ import annotations

from trainwright_api.resource.messages import ProgressMessage, Score
from trainwright_api.resource.stages import PREPROCESS
from trainwright_api.resource.status import Trials


def summary(progress: ProgressMessage) -> str | None:
    """Return percent done and time left, such as "41% 3m left", with the prefix "preprocess" in that stage.

    For a search, the finished trials and time left, such as "7/12 trials 3m left".
    """
    words = _part_done(progress) if progress.trials is None else _trials(progress, progress.trials)
    if progress.stage == PREPROCESS:
        return f"{PREPROCESS} {words}".rstrip()
    return words or None


def _part_done(progress: ProgressMessage) -> str:
    if progress.fraction is None:
        return ""
    percent = f"{int(progress.fraction * 100)}%"
    left = time_left(progress)
    return f"{percent} {left} left" if left and progress.fraction < 1 else percent


def _trials(progress: ProgressMessage, trials: Trials) -> str:
    total = "" if trials.total is None else f"/{trials.total}"
    words = f"{trials.finished}{total} trial{'' if (trials.total or trials.finished) == 1 else 's'}"
    left = time_left(progress)
    return f"{words} {left} left" if left and progress.fraction != 1 else words


def time_left(progress: ProgressMessage) -> str | None:
    """Return the time left, such as 45s, 3m, 2h5m or 1d4h."""
    return None if progress.eta_seconds is None else duration(progress.eta_seconds)


def duration(seconds: float) -> str:
    """Return the duration in its largest unit, and from one hour on also in the next smaller unit."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole}s"
    if whole < 3_600:
        return f"{whole // 60}m"
    large, small = ((86_400, "d"), (3_600, "h")) if whole >= 86_400 else ((3_600, "h"), (60, "m"))
    count, rest = divmod(whole, large[0])
    return f"{count}{large[1]}" + (f"{rest // small[0]}{small[1]}" if rest >= small[0] else "")


def metric(progress: ProgressMessage) -> str | None:
    """Return the validation metric and its value, such as "roc_auc=0.742"."""
    score = progress.validation_metric
    return f"{score.name}={_shown(score)}"[:256] if score else None


def _shown(score: Score) -> str:
    size = abs(score.value)
    return f"{score.value:.3f}" if 0.001 <= size < 1000 or size == 0 else f"{score.value:.4g}"
