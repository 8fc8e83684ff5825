"""Binary features: two labels, encoded as float32 0 and 1."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.features.column import Cleaned, Encoded, Feature, Rounds, Statistics, missing_fact
from trainwright_trainer.features.distribution import Frequencies
from trainwright_trainer.features.errors import WrongTypeError
from trainwright_trainer.features.missing import mask_of, settle
from trainwright_trainer.features.spellings import indices_in
from trainwright_trainer.features.texts import counts_of, dictionary_of, merged_counts

_PAIRS = (
    ("true", "false"),
    ("yes", "no"),
    ("t", "f"),
    ("y", "n"),
    ("1", "0"),
    ("1.0", "0.0"),
    ("1", "-1"),
    ("1.0", "-1.0"),
)
_MEANING = {word: flag for pair in _PAIRS for word, flag in zip(pair, (True, False), strict=True)}
_BOOLEANS = pa.array(["false", "true"])


def refuse(feature: Feature) -> None:
    feature.refuse_set("computed_fill_value")


def clean(feature: Feature, values: pa.Array, first_row: int) -> Cleaned:  # noqa: ARG001
    """Booleans stay unchanged; all other values become a dictionary of texts."""
    return Cleaned(values if pa.types.is_boolean(values.type) else dictionary_of(values))


def rounds(feature: Feature) -> Rounds:  # noqa: ARG001
    return Rounds()


def observe(feature: Feature, values: pa.Array, so_far: Statistics) -> tuple[int, int, pa.Table]:  # noqa: ARG001
    if not pa.types.is_boolean(values.type):
        return len(values), values.null_count, counts_of(values)
    true = values.true_count
    counts = [len(values) - values.null_count - true, true]
    table = pa.table({"value": _BOOLEANS, "count": pa.array(counts, pa.int64())})
    return len(values), values.null_count, table.filter(pc.greater(table["count"], 0))


def merge(feature: Feature, states: Sequence[Any]) -> tuple[int, int, pa.Table]:  # noqa: ARG001
    return merged_counts(states)


def conclude(feature: Feature, states: Sequence[Any], so_far: Statistics) -> dict[str, Any]:  # noqa: ARG001
    rows, missing, counted = merged_counts(states)
    counts = dict(zip(counted["value"].to_pylist(), counted["count"].to_pylist(), strict=True))
    _check(feature, list(counts))
    true, false = _labels(feature, sorted(counts))
    of_labels = [counts.get(false, 0), counts.get(true, 0)]
    found = {"type": "binary", "rows": rows, "missing": missing, "true": true, "false": false, "counts": of_labels}
    return {**found, "fill": _fill(feature, found)}


def _check(feature: Feature, labels: list[str]) -> None:
    if not labels:
        raise WrongTypeError("has no value in any training row.")
    if len(labels) > 2:
        shown = ", ".join(map(repr, labels[:3])) + (", …" if len(labels) > 3 else "")
        raise WrongTypeError(f"has {len(labels):,} values ({shown}), the feature is binary. Use type category.")
    if feature.is_target and len(labels) < 2:
        raise WrongTypeError(f"has one value ({labels[0]!r}) in the training rows; a target needs two.")
    wanted = feature.preprocessing.fallback_true_label
    if wanted is not None and wanted not in labels and not _usual(labels):
        shown = " and ".join(map(repr, sorted(labels)))
        raise WrongTypeError(f"holds {shown}; preprocessing.fallback_true_label {wanted!r} is none of its values.")


def _meaning(label: str) -> bool | None:
    return _MEANING.get(label.strip().lower())


def _usual(labels: Sequence[str]) -> bool:
    """True if the labels are words for true and false, with different meanings."""
    meanings = [_meaning(label) for label in labels]
    return None not in meanings and len(set(meanings)) == len(labels)


def _labels(feature: Feature, labels: list[str]) -> tuple[str, str]:
    """(true, false). `fallback_true_label` names the true one.

    Without it the words for true and false decide; of other labels, the first in the alphabet is true.
    """
    wanted = feature.preprocessing.fallback_true_label
    if _usual(labels):
        known = {_meaning(label): label for label in labels}
        true, false = known.get(True) or _other(labels[0]), known.get(False) or _other(labels[0])
        return (false, true) if wanted is not None and _meaning(wanted) is False else (true, false)
    true = labels[0] if wanted is None else wanted
    return true, next((label for label in labels if label != true), "")


def _other(label: str) -> str:
    """The opposite of `label`, which is the only label in the training rows."""
    word = label.strip().lower()
    return next(two if one == word else one for one, two in _PAIRS if word in (one, two))


def _fill(feature: Feature, found: Statistics) -> float | None:
    """The value for a missing one: 0, 1 or the user's. None if a neighbour fills the gap or the row is dropped."""
    given = feature.preprocessing.fill_value
    if given is not None and feature.strategy.startswith("fill_with"):
        if not isinstance(given, str):
            return float(given)
        flag = flag_of(given, found)
        return float(bool(_meaning(given))) if math.isnan(flag) else flag
    false, true = found["counts"]
    mode = float(true > false)
    return {"fill_with_true": 1.0, "fill_with_false": 0.0, "fill_with_mode": mode}.get(feature.strategy)


def notices(feature: Feature, statistics: Statistics) -> list[str]:
    """A notice of the label that is true, if the label's text does not show it and the user has not set it."""
    true, false = statistics["true"], statistics["false"]
    if _usual([true, false]) or feature.preprocessing.fallback_true_label is not None:
        return []
    words = "the positive value" if feature.is_target else "read as true"
    return [
        f"column {feature.column!r}: {true!r} is {words} and {false!r} the other; "
        f"{feature.path}.preprocessing.fallback_true_label: {false!r} reverses them"
    ]


def encode(feature: Feature, values: pa.Array, statistics: Statistics, first_row: int) -> Encoded:  # noqa: ARG001
    """Encode a block. A third label counts as missing in an input; in a target its row is dropped."""
    missing = mask_of(values)
    encoded = _flags(values, statistics)
    unseen = np.isnan(encoded) if missing is None else np.isnan(encoded) & ~missing
    if not unseen.any():
        return settle(encoded, [(missing, feature.strategy, statistics["fill"])])
    if feature.is_target:
        return settle(encoded, [(missing, feature.strategy, statistics["fill"])], unseen)
    settled = settle(encoded, [(np.isnan(encoded), feature.strategy, statistics["fill"])])
    return replace(settled, unknown=int(np.count_nonzero(unseen)))


def _flags(values: pa.Array, statistics: Statistics) -> Any:
    """float32 [rows]: 0, 1, or NaN for a value that is missing or neither label."""
    if pa.types.is_boolean(values.type) and _usual([statistics["true"], statistics["false"]]):
        flags = pc.invert(values) if _meaning(statistics["true"]) is False else values
        return pc.cast(flags, pa.uint8()).to_numpy(zero_copy_only=False).astype(np.float32)
    coded = dictionary_of(values)
    flags = [flag_of(text, statistics) for text in coded.dictionary.to_pylist()]
    codes = pc.fill_null(coded.indices, len(flags)).to_numpy()
    return np.array([*flags, np.nan], dtype=np.float32)[codes]


def flag_of(text: str, statistics: Statistics) -> float:
    """1 for true, 0 for false, and NaN for a text that is neither label."""
    if text in (statistics["true"], statistics["false"]):
        return float(text == statistics["true"])
    if _usual([statistics["true"], statistics["false"]]):
        meaning = _meaning(text)
        return np.nan if meaning is None else float(meaning is _meaning(statistics["true"]))
    label = indices_in(pa.array([text]), [statistics["false"], statistics["true"]])[0].as_py()
    return np.nan if label is None else float(label)


def log_odds(statistics: Statistics) -> float:
    """The log-odds of true among the rows that a model trains with: the training rows, or their sample where classes
    are balanced. Each class counts one row more, so that they are finite."""
    false, true = statistics.get("sampled", statistics["counts"])
    return math.log(true + 1) - math.log(false + 1)


def facts(statistics: Statistics) -> dict[str, str]:
    return {"true": statistics["true"], "false": statistics["false"], **missing_fact(statistics)}


def distribution(statistics: Statistics) -> Frequencies:
    counts = zip((statistics["false"], statistics["true"]), statistics["counts"], strict=True)
    return Frequencies(sorted(counts, key=lambda pair: -pair[1]), sum(statistics["counts"]))
