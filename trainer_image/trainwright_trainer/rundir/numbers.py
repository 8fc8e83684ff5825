"""The numbers of a run's attempts. A started attempt has a start.json.

In a pod, an attempt that ended before it started has an outcome.json only.
"""

from __future__ import annotations

from trainwright_trainer.rundir import layout
from trainwright_trainer.storage.base import Storage


def started(storage: Storage, after: int = 0) -> list[int]:
    """The numbers above `after` of the attempts that have started, in ascending order."""
    return [number for number in _listed(storage, after) if storage.exists(layout.start(number))]


def free(storage: Storage) -> int:
    """The next number: no attempt with this number or a larger one has a start.json or an outcome.json."""
    names = (layout.start, layout.outcome)
    used = (n for n in reversed(_listed(storage, 0)) if any(storage.exists(name(n)) for name in names))
    return next(used, 0) + 1


def _listed(storage: Storage, after: int) -> list[int]:
    found = (layout.attempt_number(entry.rstrip("/")) for entry in storage.list(layout.ATTEMPTS))
    return sorted(number for number in found if number is not None and number > after)
