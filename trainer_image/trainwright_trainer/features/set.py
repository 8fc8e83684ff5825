"""Set and bag features: tokens of a text or a list, as ascending int32 indices into the training rows' vocabulary.

A token counts once in a row of a set, and as often as it occurs in a row of a bag. Index 0 stands for all tokens that
are not in the vocabulary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.features.category import UNKNOWN
from trainwright_trainer.features.column import Cleaned, Encoded, Feature, Rounds, Statistics
from trainwright_trainer.features.distribution import Frequencies
from trainwright_trainer.features.errors import WrongTypeError
from trainwright_trainer.features.missing import mask_of, settle_lists
from trainwright_trainer.features.spellings import indices_in
from trainwright_trainer.features.texts import counts_of, merged_counts
from trainwright_trainer.features.tokens import (
    TOKENIZERS,
    known_tokens,
    lengths_of,
    list_array,
    refuse_tokenizer,
    rows_as_bytes,
    rows_of_unknown,
    token_facts,
    tokens_of,
    vocabulary_of,
)

Codes = npt.NDArray[np.int32]
Offsets = npt.NDArray[np.int64]


def refuse(feature: Feature) -> None:
    feature.refuse_set("computed_fill_value")
    refuse_tokenizer(feature, TOKENIZERS)


def clean(feature: Feature, values: pa.Array, first_row: int) -> Cleaned:  # noqa: ARG001
    """`large_list<string>`: the tokens of each row."""
    section = feature.preprocessing
    return Cleaned(tokens_of(values, section.tokenizer, lowercase=section.lowercase, unknown=UNKNOWN))


def rounds(feature: Feature) -> Rounds:
    """The most frequent set is counted in the second round, as indices."""
    return Rounds(2 if feature.strategy == "fill_with_mode" else 1)


def observe(feature: Feature, values: pa.Array, so_far: Statistics) -> tuple[int, int, pa.Table]:
    """The number of rows, the number of missing ones, and the count of each token; in the second round of each set."""
    if so_far:
        codes, offsets = _codes(values.drop_null(), so_far["vocabulary"], feature.type)
        return len(values), values.null_count, counts_of(rows_as_bytes(codes, offsets))
    coded = values.flatten().dictionary_encode()
    distinct, _ = _ascending(coded.indices.to_numpy(), lengths_of(values), len(coded.dictionary), feature.type)
    return (
        len(values),
        values.null_count,
        counts_of(pa.DictionaryArray.from_arrays(pa.array(distinct), coded.dictionary)),
    )


def merge(feature: Feature, states: Sequence[Any]) -> tuple[int, int, pa.Table]:  # noqa: ARG001
    return merged_counts(states)


def conclude(feature: Feature, states: Sequence[Any], so_far: Statistics) -> dict[str, Any]:
    rows, missing, counted = merged_counts(states)
    if so_far:
        most = np.frombuffer(counted["value"][0].as_py(), np.int32) if len(counted) else np.zeros(0, np.int32)
        return {**so_far, "fill": most.tolist()}
    counts = dict(zip(counted["value"].to_pylist(), counted["count"].to_pylist(), strict=True))
    if not counts:
        raise WrongTypeError("has no token in any training row.")
    fill = _fill_tokens(feature)
    if missing and fill:
        for token in fill:
            counts[token] = counts.get(token, 0) + missing
        counts = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0].encode())))
    vocabulary = vocabulary_of(counts, UNKNOWN, feature.preprocessing.most_common)
    found = _codes(pa.array([fill or []], pa.large_list(pa.string())), list(vocabulary), feature.type)[0]
    return {
        "type": feature.type,
        "rows": rows,
        "missing": missing,
        "vocabulary": list(vocabulary),
        "counts": list(vocabulary.values()),
        "fill": None if fill is None else found.tolist(),
        "length": sum(vocabulary.values()) / rows,
    }


def _fill_tokens(feature: Feature) -> list[str] | None:
    """The tokens of the fill value; None without `fill_with_const`. The unknown token stays as it is."""
    if feature.strategy != "fill_with_const":
        return None
    given = feature.preprocessing.fill_value
    if given == UNKNOWN:
        return [UNKNOWN]
    tokens = clean(feature, pa.array([given]), 0).values[0].as_py()
    return sorted(set(tokens) if feature.type == "set" else tokens)


def notices(feature: Feature, statistics: Statistics) -> list[str]:  # noqa: ARG001
    return []


def encode(feature: Feature, values: pa.Array, statistics: Statistics, first_row: int) -> Encoded:  # noqa: ARG001
    codes, offsets = _codes(values, statistics["vocabulary"], feature.type)
    settled = settle_lists(
        list_array(pa.array(codes), offsets, None), mask_of(values), feature.strategy, statistics["fill"]
    )
    many = _rows_with_repeats(values) if feature.type == "set" and len(codes) < len(values.flatten()) else 0
    repeats = {"rows in which a token stands more than once, and counts once": many} if many else {}
    return replace(settled, noted={**repeats, **rows_of_unknown(codes, offsets)})


def _rows_with_repeats(values: pa.Array) -> int:
    coded, lengths = values.flatten().dictionary_encode(), lengths_of(values)
    _, offsets = _ascending(coded.indices.to_numpy(), lengths, len(coded.dictionary), "set")
    return int(np.count_nonzero(np.diff(offsets) < lengths))


def _codes(values: pa.Array, vocabulary: list[str], kind: str) -> tuple[Codes, Offsets]:
    """int32 [n]: the indices of each row's tokens, ascending; and int64 [rows + 1]: the rows' offsets."""
    found = indices_in(values.flatten(), vocabulary)
    return _ascending(pc.fill_null(found, 0).to_numpy(), lengths_of(values), len(vocabulary), kind)


def _ascending(codes: Codes, lengths: Offsets, size: int, kind: str) -> tuple[Codes, Offsets]:
    """The codes (below `size`) of each row in ascending order, in a set each once, with the offsets of the rows."""
    owners = np.repeat(np.arange(len(lengths)), lengths)
    pairs = owners * max(size, 1) + codes
    pairs = np.unique(pairs) if kind == "set" else np.sort(pairs)
    offsets = np.searchsorted(pairs, np.arange(len(lengths) + 1) * max(size, 1))
    return (pairs % max(size, 1)).astype(np.int32), offsets


def facts(statistics: Statistics) -> dict[str, str]:
    return token_facts(statistics)


def distribution(statistics: Statistics) -> Frequencies:
    """The rows of each token, where a row with several tokens counts for each of them; of a bag its occurrences."""
    whole = statistics["rows"] if statistics["type"] == "set" else sum(statistics["counts"])
    return Frequencies.most_common(known_tokens(statistics), whole)
