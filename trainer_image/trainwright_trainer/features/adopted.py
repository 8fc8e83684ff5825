"""The statistics of a column that is read as another model reads it: that model's encoding, and the distribution of the
own training rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from trainwright_trainer.features.binary import flag_of
from trainwright_trainer.features.category import UNKNOWN
from trainwright_trainer.features.column import Feature, Statistics
from trainwright_trainer.features.spellings import indices_in

_DISTRIBUTION = ("rows", "missing", "mean", "std", "min", "max", "histogram", "longest", "sampled")
"""The statistics that describe the training rows, and that `encode` does not read; beside them the `counts`."""
_MOST_NAMED = 3


def adopted(given: Statistics, computed: Statistics) -> dict[str, Any]:
    """The statistics `given` of another model, with the distribution of the rows that `computed` describes.

    `computed` may still lack a round.
    """
    encoding = {key: value for key, value in given.items() if key not in (*_DISTRIBUTION, "counts")}
    found = {**encoding, **{key: computed[key] for key in _DISTRIBUTION if key in computed}}
    if "counts" in computed:
        found["counts"] = _counts(given, computed)
    return found


def _counts(given: Statistics, computed: Statistics) -> list[int]:
    """The counts of `computed`, in the order of the values of `given`. Other values count for the unknown one."""
    if "vocabulary" not in given:
        return _of_flags(given, computed)
    found = [0] * len(given["vocabulary"])
    has_unknown = given["type"] != "category" or given["vocabulary"][0] == UNKNOWN
    codes = indices_in(pa.array(computed["vocabulary"], pa.string()), given["vocabulary"]).to_pylist()
    for code, count in zip(codes, computed["counts"], strict=True):
        if code is not None or has_unknown:
            found[code or 0] += count
    return found


def _of_flags(given: Statistics, computed: Statistics) -> list[int]:
    """The numbers of rows that `given` reads as false and as true."""
    found = [0, 0]
    for label, count in zip((computed["false"], computed["true"]), computed["counts"], strict=True):
        flag = flag_of(label, given)
        if not np.isnan(flag):
            found[int(flag)] += count
    return found


def unseen_line(feature: Feature, given: Statistics, computed: Statistics) -> str | None:
    """A notice of the values of the training rows that the model of `given` reads as unknown; None without any."""
    if "counts" not in computed or "vocabulary" not in given:
        return None
    texts = computed["vocabulary"]
    known = indices_in(pa.array(texts, pa.string()), [*given["vocabulary"], UNKNOWN]).is_valid().to_pylist()
    counts = zip(texts, computed["counts"], known, strict=True)
    unseen = {value: count for value, count, is_known in counts if count and not is_known}
    if not unseen:
        return None
    word = ("value" if feature.type == "category" else "token") + "s" * (len(unseen) > 1)
    shown = ", ".join(map(repr, list(unseen)[:_MOST_NAMED])) + (", …" if len(unseen) > _MOST_NAMED else "")
    times = sum(unseen.values())
    return (
        f"column {feature.column!r}: {len(unseen):,} {word} that the model of resumeFrom does not know ({shown}), "
        f"{times:,} time{'s' * (times > 1)} in the training rows: read as unknown"
    )
