"""Text and sequence features: tokens in their order, encoded as int32 indices into the training rows' vocabulary.

Index 0 stands for all tokens that are not in the vocabulary. A row keeps its first tokens, as many as the longest
training row has, and at most `max_sequence_length`. Nothing is padded here: see `layers.steps`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_api.problems import Mistakes
from trainwright_trainer.features import subwords
from trainwright_trainer.features.category import UNKNOWN
from trainwright_trainer.features.column import Cleaned, Encoded, Feature, Rounds, Statistics, missing_fact
from trainwright_trainer.features.distribution import Frequencies
from trainwright_trainer.features.errors import WrongTypeError, kind_of
from trainwright_trainer.features.missing import mask_of, settle_lists
from trainwright_trainer.features.spellings import indices_in
from trainwright_trainer.features.subwords import HF_TOKENIZER
from trainwright_trainer.features.texts import counts_of, total
from trainwright_trainer.features.tokens import (
    TOKENIZERS,
    known_tokens,
    lengths_of,
    list_array,
    refuse_tokenizer,
    rows_as_bytes,
    rows_of_unknown,
    rows_without_tokens,
    token_facts,
    tokens_of,
    vocabulary_of,
)

_UNBUILT = ("computed_fill_value", "vocab_file", "ngram_size")


@dataclass(frozen=True)
class TokenCounts:
    """Rows, missing rows and the length of the longest row of some training rows, and the occurrences of each token; in
    the second round those of each whole row."""

    rows: int
    missing: int
    longest: int
    counts: pa.Table


def refuse(feature: Feature) -> None:
    for option in _UNBUILT:
        feature.refuse_set(option)
    if feature.is_target:
        feature.refuse_set("cache_encoder_embeddings")
    refuse_tokenizer(feature, _tokenizers(feature))
    name = getattr(feature.preprocessing, "pretrained_model_name_or_path", None)
    if name is not None and feature.preprocessing.tokenizer != HF_TOKENIZER:
        path = f"{feature.path}.preprocessing.pretrained_model_name_or_path"
        raise Mistakes.one(path, f"{name!r} acts with tokenizer hf_tokenizer alone")


def _tokenizers(feature: Feature) -> tuple[str, ...]:
    reads_subwords = feature.type == "text" and not feature.is_target
    return (*TOKENIZERS, *((HF_TOKENIZER,) if reads_subwords else ()))


def clean(feature: Feature, values: pa.Array, first_row: int) -> Cleaned:  # noqa: ARG001
    """`large_list<string>`: the tokens of each row; its whole text for the tokenizer of a pretrained model.

    Raises `WrongTypeError` for lists of tokens that such a tokenizer would have to read.
    """
    section = feature.preprocessing
    if section.tokenizer == HF_TOKENIZER and kind_of(values.type) == "lists":
        raise WrongTypeError("holds lists, and a pretrained tokenizer reads texts: join the tokens of each row.")
    tokenizer = "untokenized" if section.tokenizer == HF_TOKENIZER else section.tokenizer
    symbols = {"padding": section.padding_symbol, "unknown": section.unknown_symbol}
    return Cleaned(tokens_of(values, tokenizer, lowercase=section.lowercase, **symbols))


def rounds(feature: Feature) -> Rounds:
    """The most frequent row is counted in the second round, as indices."""
    if feature.preprocessing.tokenizer == HF_TOKENIZER:
        return Rounds()
    return Rounds(2 if feature.strategy == "fill_with_mode" else 1)


def observe(feature: Feature, values: pa.Array, so_far: Statistics) -> TokenCounts:
    lengths = lengths_of(values)
    if feature.preprocessing.tokenizer == HF_TOKENIZER and feature.strategy != "fill_with_mode":
        counts = counts_of(values.flatten()[:0])  # texts are many, and only their mode needs counts
    elif so_far:
        codes, offsets = _codes(values.drop_null(), so_far["vocabulary"])
        counts = counts_of(rows_as_bytes(codes, offsets))
    else:
        counts = counts_of(values.flatten())
    return TokenCounts(len(values), values.null_count, int(lengths.max(initial=0)), counts)


def merge(feature: Feature, states: Sequence[TokenCounts]) -> TokenCounts:  # noqa: ARG001
    rows, missing = sum(state.rows for state in states), sum(state.missing for state in states)
    return TokenCounts(rows, missing, max(state.longest for state in states), total([one.counts for one in states]))


def conclude(feature: Feature, states: Sequence[TokenCounts], so_far: Statistics) -> dict[str, Any]:
    whole, section = merge(feature, states), feature.preprocessing
    if section.tokenizer == HF_TOKENIZER:
        most_frequent = whole.counts["value"][0].as_py() if len(whole.counts) else None
        return subwords.conclude(feature, whole.rows, whole.missing, most_frequent)
    if so_far:
        most = np.frombuffer(whole.counts["value"][0].as_py(), np.int32) if len(whole.counts) else np.zeros(0, np.int32)
        return {**so_far, "fill": most[: so_far["length"]].tolist()}
    counts = dict(zip(whole.counts["value"].to_pylist(), whole.counts["count"].to_pylist(), strict=True))
    if not counts:
        raise WrongTypeError("has no token in any training row.")
    fill = _fill_tokens(feature)
    if whole.missing and fill:
        for token in fill:
            counts[token] = counts.get(token, 0) + whole.missing
        counts = dict(sorted(counts.items(), key=lambda item: (-item[1], item[0].encode())))
    vocabulary = vocabulary_of(counts, section.unknown_symbol, section.most_common)
    limits = [one for one in (section.sequence_length, section.max_sequence_length) if one is not None]
    length = section.sequence_length or max(whole.longest, len(fill or ()))
    length = min([length, *limits])
    codes, _ = _codes(pa.array([(fill or [])[:length]], pa.large_list(pa.string())), list(vocabulary))
    return {
        "type": feature.type,
        "rows": whole.rows,
        "missing": whole.missing,
        "vocabulary": list(vocabulary),
        "counts": list(vocabulary.values()),
        "longest": whole.longest,
        "length": length,
        "padding": section.padding,
        "fill": None if fill is None else codes.tolist(),
    }


def _fill_tokens(feature: Feature) -> list[str] | None:
    """The tokens of the fill value; None without `fill_with_const`. The unknown token stays as it is."""
    if feature.strategy != "fill_with_const":
        return None
    given, unknown = feature.preprocessing.fill_value, feature.preprocessing.unknown_symbol
    if given in (UNKNOWN, unknown):
        return [unknown]
    tokens: list[str] = clean(feature, pa.array([given]), 0).values[0].as_py()
    return tokens


def notices(feature: Feature, statistics: Statistics) -> list[str]:  # noqa: ARG001
    return []


def encode(feature: Feature, values: pa.Array, statistics: Statistics, first_row: int) -> Encoded:  # noqa: ARG001
    if "tokenizer" in statistics:
        return subwords.encode(feature, values, statistics)
    codes, offsets = _codes(values, statistics["vocabulary"])
    found = truncated(codes, offsets, mask_of(values), feature.strategy, statistics)
    return replace(found, noted={**found.noted, **rows_without_tokens(values), **rows_of_unknown(codes, offsets)})


def truncated(
    codes: npt.NDArray[np.int32],
    offsets: npt.NDArray[np.int64],
    missing: npt.NDArray[np.bool_] | None,
    strategy: str,
    statistics: Statistics,
) -> Encoded:
    """The encoded block: the first `statistics["length"]` codes of each row, and missing rows filled or dropped."""
    lengths, longest = np.diff(offsets), statistics["length"]
    places = np.arange(len(codes)) - np.repeat(offsets[:-1], lengths)
    own = np.concatenate([[0], np.cumsum(np.minimum(lengths, longest))])
    lists = list_array(pa.array(codes[places < longest]), own, None)
    settled = settle_lists(lists, missing, strategy, statistics["fill"])
    many = int(np.count_nonzero(lengths > longest))
    line = f"rows of more than {longest:,} tokens, whose other tokens are left out"
    return replace(settled, noted={line: many} if many else {})


def _codes(values: pa.Array, vocabulary: list[str]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64]]:
    """int32 [n]: the indices of all rows' tokens; and int64 [rows + 1]: the rows' offsets."""
    found = pc.fill_null(indices_in(values.flatten(), vocabulary), 0)
    return found.to_numpy(), np.concatenate([[0], np.cumsum(lengths_of(values))])


def facts(statistics: Statistics) -> dict[str, str]:
    if "tokenizer" in statistics:
        return {**subwords.facts(statistics), **missing_fact(statistics)}
    return token_facts(statistics, longest=f"{statistics['longest']:,} tokens")


def distribution(statistics: Statistics) -> Frequencies | None:
    """The occurrences of each token; None for the tokens of a pretrained model."""
    if "tokenizer" in statistics:
        return None
    return Frequencies.most_common(known_tokens(statistics), sum(statistics["counts"]))
