"""Compare a job with the job that started a run, path by path, in the fields that determine the computation."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from trainwright_api.problems import Problem

EPOCHS, TRAIN_STEPS = "config.trainer.epochs", "config.trainer.train_steps"
EARLY_STOP = "config.trainer.early_stop"
_LENGTHS = (EPOCHS, TRAIN_STEPS, EARLY_STOP)
_SHOWN = 60


def essence(job: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a job (plain JSON, its config resolved) that determines the computation; it holds no secrets."""
    spec = job.get("spec", {})
    kept = {key: spec.get(key) for key in ("config", "entrypoint", "dataset", "seed")}
    kept["loader"] = (spec.get("backend") or {}).get("loader")
    if spec.get("resumeFrom") is not None:
        kept["resumeFrom"] = spec["resumeFrom"]
    return kept


def digest(job: Mapping[str, Any]) -> str:
    """SHA-256 of an essence, without the training lengths, which a resumed run may raise."""
    trainer = (job.get("config") or {}).get("trainer") or {}
    fixed = {key: value for key, value in trainer.items() if f"config.trainer.{key}" not in _LENGTHS}
    whole = dict(job) | {"config": dict(job.get("config") or {}) | {"trainer": fixed}}
    return hashlib.sha256(json.dumps(whole, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def raised(old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """True if `new` raises one of the limits that act on the training of `old`."""
    return any(raises(path, old, new) for path in (limit_of(old), EARLY_STOP))


def raises(limit: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> bool:
    """True if `new` raises the limit at this path."""
    return _length(limit, new) > _length(limit, old)


def limit_of(job: Mapping[str, Any]) -> str:
    """The path of the limit that ends the training of an essence: `train_steps` has priority over `epochs`."""
    return EPOCHS if _length(TRAIN_STEPS, job) == math.inf else TRAIN_STEPS


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Problem]:
    """One problem for each path at which two essences differ and must not; `data_differs` compares the dataset."""
    found = _differences("", {**old, "dataset": None}, {**new, "dataset": None})
    same = [Problem(path, f"is {_short(b)}, the run has {_short(a)}") for path, a, b in found if path not in _LENGTHS]
    limit = limit_of(old)
    if limit != limit_of(new):
        given, had = ("train_steps", "epochs") if limit == EPOCHS else ("epochs", "train_steps")
        same.append(Problem(TRAIN_STEPS, f"a resumed run cannot count {given}, because the run counts {had}"))
        return same
    return same + [_lowered(path, old, new) for path in (limit, EARLY_STOP) if _length(path, new) < _length(path, old)]


def data_differs(
    old: Mapping[str, Any], new: Mapping[str, Any], contents: tuple[str | None, str | None]
) -> list[Problem]:
    """One problem if the data differ. `contents`: the hashes of the run's data and of the new job's data, if known.

    Without both hashes, the paths of the datasets are compared.
    """
    before, now = contents
    if before is not None and now is not None:
        return [] if before == now else [Problem("dataset", "its content is not the data that the run was begun with")]
    if old.get("dataset") == new.get("dataset"):
        return []
    return [Problem("dataset", f"is {_short(new.get('dataset'))}, the run has {_short(old.get('dataset'))}")]


def _differences(path: str, old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in _compared(old, new):
            yield from _differences(f"{path}.{key}".lstrip("."), old.get(key), new.get(key))
    elif _names(old) != _names(new):
        yield path, _names(old), _names(new)
    elif isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        for index, (one, other) in enumerate(zip(old, new, strict=True)):
            yield from _differences(f"{path}[{index}]", one, other)
    elif old != new:
        yield path, old, new


def _compared(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """The keys to compare: of sections of different types the type alone, because their other keys follow from it."""
    if old.get("type") != new.get("type"):
        return ["type"]
    return sorted(old.keys() | new.keys())


def _names(value: Any) -> list[str] | None:
    """The names of a list of features; None for another value."""
    if not isinstance(value, list) or not all(isinstance(one, Mapping) and "name" in one for one in value):
        return None
    return [one["name"] for one in value]


def _length(path: str, job: Mapping[str, Any]) -> float:
    value: Any = job
    for key in path.split("."):
        value = (value or {}).get(key)
    is_endless = value is None or (path == EARLY_STOP and value <= 0)
    return math.inf if is_endless else float(value)


def _lowered(path: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> Problem:
    less, more = (f"{_length(path, job):g}" for job in (new, old))
    limit = "sets no limit" if more == "inf" else f"has {more}"
    return Problem(path, f"is {less}, the run {limit}; a resumed run may raise it, not lower it")


def _short(value: Any) -> str:
    text = "absent" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
