"""Category features: read as a dictionary of texts, encoded as int32 indices into the training rows' vocabulary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.features.column import Cleaned, Encoded, Feature, Rounds, Statistics, missing_fact, share
from trainwright_trainer.features.distribution import Frequencies
from trainwright_trainer.features.errors import WrongTypeError
from trainwright_trainer.features.missing import mask_of, settle
from trainwright_trainer.features.spellings import indices_in
from trainwright_trainer.features.texts import counts_of, dictionary_of, lowered, merged_counts

UNKNOWN = "<UNK>"
_ONE_CLASS = "has one value ({value!r}) in the training rows; a target needs two or more."


def refuse(feature: Feature) -> None:
    feature.refuse_set("computed_fill_value")
    feature.refuse_set("cache_encoder_embeddings")


def clean(feature: Feature, values: pa.Array, first_row: int) -> Cleaned:  # noqa: ARG001
    coded = dictionary_of(values)
    if feature.preprocessing.lowercase:
        coded = pa.DictionaryArray.from_arrays(coded.indices, lowered(coded.dictionary, [UNKNOWN]))
    return Cleaned(coded)


def rounds(feature: Feature) -> Rounds:  # noqa: ARG001
    return Rounds()


def observe(feature: Feature, values: pa.Array, so_far: Statistics) -> tuple[int, int, pa.Table]:  # noqa: ARG001
    return len(values), values.null_count, counts_of(values)


def merge(feature: Feature, states: Sequence[Any]) -> tuple[int, int, pa.Table]:  # noqa: ARG001
    return merged_counts(states)


def conclude(feature: Feature, states: Sequence[Any], so_far: Statistics) -> dict[str, Any]:  # noqa: ARG001
    rows, missing, counted = merged_counts(states)
    counts = dict(zip(counted["value"].to_pylist(), counted["count"].to_pylist(), strict=True))
    if not counts:
        raise WrongTypeError("has no value in any training row.")
    fill = _fill(feature, next(iter(counts)))
    if missing and fill is not None:
        counts[fill] = counts.get(fill, 0) + missing
        counts = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0].encode())))
    vocabulary = _vocabulary(feature, counts)
    if feature.is_target and len(vocabulary) < 2:
        raise WrongTypeError(_ONE_CLASS.format(value=next(iter(vocabulary))))
    return {
        "type": "category",
        "rows": rows,
        "missing": missing,
        "vocabulary": list(vocabulary),
        "counts": list(vocabulary.values()),
        "fill": fill,
    }


def _fill(feature: Feature, most_frequent: str) -> str | None:
    if feature.strategy == "fill_with_const":
        given = pa.array([str(feature.preprocessing.fill_value)])
        text: str = (lowered(given, [UNKNOWN]) if feature.preprocessing.lowercase else given)[0].as_py()
        return text
    return most_frequent if feature.strategy == "fill_with_mode" else None


def _vocabulary(feature: Feature, counts: dict[str, int]) -> dict[str, int]:
    """Map each text to its number of training rows, in the order of the indices.

    An input always has an index for unknown values. A target has one only if training rows have rare values.
    """
    unknown = counts.pop(UNKNOWN, 0)
    kept = dict(list(counts.items())[: feature.preprocessing.most_common])
    unknown += sum(counts.values()) - sum(kept.values())
    return kept if feature.is_target and not unknown else {UNKNOWN: unknown, **kept}


def notices(feature: Feature, statistics: Statistics) -> list[str]:  # noqa: ARG001
    return []


def encode(feature: Feature, values: pa.Array, statistics: Statistics, first_row: int) -> Encoded:  # noqa: ARG001
    other = 0 if statistics["vocabulary"][0] == UNKNOWN else -1
    codes = pc.fill_null(indices_in(values.dictionary, statistics["vocabulary"]), other).to_numpy()
    missing = mask_of(values)
    indices = pc.fill_null(values.indices, 0).to_numpy()
    encoded = codes[indices] if len(codes) else np.zeros(len(values), np.int32)
    unseen = (encoded < 0) if missing is None else (encoded < 0) & ~missing
    fill = _fill_code(statistics, other)
    if fill == -1 and missing is not None and statistics["fill"] is not None:
        unseen, missing = unseen | missing, None
    is_unknown = encoded == other if missing is None else (encoded == other) & ~missing
    settled = settle(encoded, [(missing, feature.strategy, fill)], unseen if unseen.any() else None)
    return replace(settled, unknown_categories=0 if feature.is_target else int(np.count_nonzero(is_unknown)))


def _fill_code(statistics: Statistics, other: int) -> int:
    """The index of the fill value, or `other` if it is not in the vocabulary because no training row needed it."""
    vocabulary, fill = statistics["vocabulary"], statistics["fill"]
    return vocabulary.index(fill) if fill in vocabulary else other


def facts(statistics: Statistics) -> dict[str, str]:
    known, rows = _classes(statistics), statistics["rows"]
    found = {"classes": f"{len(known):,}"}
    if known:
        found["most frequent"] = known[0][0]
    if rare := _rare_rows(statistics):
        found["rare, read as unknown"] = share(rare, rows)
    return {**found, **missing_fact(statistics)}


def distribution(statistics: Statistics) -> Frequencies:
    return Frequencies.most_common(_classes(statistics), statistics["rows"])


def _classes(statistics: Statistics) -> list[tuple[str, int]]:
    """The known texts with their numbers of training rows, the most frequent first, without `UNKNOWN`."""
    pairs = zip(statistics["vocabulary"], statistics["counts"], strict=True)
    known = [(text, count) for text, count in pairs if text != UNKNOWN]
    return sorted(known, key=lambda pair: -pair[1])  # a vocabulary of another model has another order


def _rare_rows(statistics: Statistics) -> int:
    """The number of training rows with a value too rare for the vocabulary. Missing values may share their index."""
    counts = dict(zip(statistics["vocabulary"], statistics["counts"], strict=True))
    return int(counts.get(UNKNOWN, 0)) - (statistics["missing"] if statistics["fill"] == UNKNOWN else 0)
