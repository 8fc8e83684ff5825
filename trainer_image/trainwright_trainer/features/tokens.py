"""The tokens of texts, and of columns that hold lists of texts already. All of it is vectorised in Arrow."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import partial

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from trainwright_trainer.errors import not_built
from trainwright_trainer.features.column import Feature, Mask, Statistics, missing_fact, share
from trainwright_trainer.features.errors import WrongTypeError, kind_of
from trainwright_trainer.features.missing import mask_of
from trainwright_trainer.features.texts import TEXTUAL, lowered, texts_of

WITHOUT_TOKENS = "rows without a token"
ONLY_UNKNOWN = "rows of which all tokens are unknown"
Splitter = Callable[[pa.Array], pa.Array]


def refuse_tokenizer(feature: Feature, built: Collection[str]) -> None:
    """Raise `Mistakes` for a tokenizer that is not one of `built`."""
    tokenizer = feature.preprocessing.tokenizer
    if tokenizer not in built:
        raise not_built(f"{feature.path}.preprocessing.tokenizer", tokenizer, ", ".join(TOKENIZERS))


def tokens_of(
    values: pa.Array, tokenizer: str, *, lowercase: bool, padding: str = "", unknown: str = ""
) -> pa.LargeListArray:
    """`large_list<string>`: the tokens of each row in their order; null where the value is null. Empty tokens and those
    equal to `padding` are left out. `lowercase` changes neither `padding` nor `unknown`.

    A list of texts or numbers is taken as it is. Raises `WrongTypeError` for other kinds of columns.
    """
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    kind = values.type
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        if kind_of(kind.value_type) not in TEXTUAL:
            raise WrongTypeError(f"holds lists of {kind_of(kind.value_type)}, which are no tokens.")
        lengths, flat = _opened(values)
        flat = texts_of(flat.dictionary_decode() if pa.types.is_dictionary(flat.type) else flat)
    elif kind_of(kind) in TEXTUAL:
        texts = texts_of(values)
        lengths, flat = _opened(TOKENIZERS[tokenizer](pc.fill_null(texts, "")))
        values = texts
    else:
        raise WrongTypeError(f"holds {kind_of(kind)}, which have no tokens.")
    flat = lowered(flat, [padding, unknown]) if lowercase else flat
    return _joined(flat, lengths, mask_of(values), padding)


def _opened(lists: pa.Array) -> tuple[npt.NDArray[np.int64], pa.Array]:
    """The number of items of each row, 0 for null, and the items of all rows."""
    lengths = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False).astype(np.int64)
    return lengths, lists.flatten()


def _joined(flat: pa.Array, lengths: npt.NDArray[np.int64], missing: Mask | None, padding: str) -> pa.LargeListArray:
    """The rows again, without the items that are null, empty or padding."""
    is_token = pc.and_(pc.not_equal(flat, ""), pc.not_equal(flat, padding))
    kept = pc.fill_null(is_token, False).to_numpy(zero_copy_only=False)
    before = np.concatenate([[0], np.cumsum(kept, dtype=np.int64)])
    offsets = before[np.concatenate([[0], np.cumsum(lengths)])]
    return list_array(flat.filter(pa.array(kept)), offsets, missing)


def list_array(flat: pa.Array, offsets: npt.NDArray[np.int64], missing: Mask | None) -> pa.LargeListArray:
    """`large_list` of rows whose items are `flat[offsets[i]:offsets[i + 1]]`; null where `missing` is True."""
    mask = None if missing is None else pa.array(missing)
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), flat, mask=mask)


def lengths_of(lists: pa.LargeListArray) -> npt.NDArray[np.int64]:
    """int64 [rows]: the number of items of each row; 0 for null."""
    lengths: npt.NDArray[np.int64] = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    return lengths


def rows_without_tokens(lists: pa.LargeListArray) -> dict[str, int]:
    """A line for the user with the number of rows that are not missing and have no token; empty if there are none."""
    many = int(np.count_nonzero(lengths_of(lists) == 0)) - lists.null_count
    return {WITHOUT_TOKENS: many} if many else {}


def rows_of_unknown(codes: npt.NDArray[np.int32], offsets: npt.NDArray[np.int64]) -> dict[str, int]:
    """A line for the user with the number of rows that have tokens, all with the index 0; empty if there are none.

    `offsets`: int64 [rows + 1], those of the rows in `codes`.
    """
    known = np.concatenate([[0], np.cumsum(codes != 0)])[offsets]
    many = int(np.count_nonzero((np.diff(offsets) > 0) & (np.diff(known) == 0)))
    return {ONLY_UNKNOWN: many} if many else {}


def rows_as_bytes(codes: npt.NDArray[np.int32], offsets: npt.NDArray[np.int64]) -> pa.Array:
    """Each row's codes as one binary value, which can be counted."""
    buffers = [None, pa.py_buffer(offsets * codes.itemsize), pa.py_buffer(codes)]
    return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, buffers)


def _by(pattern: str, texts: pa.Array) -> pa.Array:
    return pc.split_pattern_regex(pc.utf8_trim_whitespace(texts), pattern)


def _words_and_marks(texts: pa.Array) -> pa.Array:
    """Words, and each mark that is no part of a word: the matches of `\\w+|[^\\w\\s]`."""
    return _words(pc.replace_substring_regex(texts, r"([^\pL\pN_\s])", r" \1 "))


def _words(texts: pa.Array) -> pa.Array:
    # Arrow reads behind its buffer if the last text ends with white space, and then may not split there.
    return pc.utf8_split_whitespace(pc.utf8_trim_whitespace(texts))


def _characters(texts: pa.Array) -> pa.Array:
    offsets = np.frombuffer(texts.buffers()[1], np.int32, len(texts) + 1, texts.offset * 4)
    data = np.frombuffer(texts.buffers()[2] or b"", np.uint8)
    # A byte of the form 10xxxxxx continues a character of UTF-8.
    starts = np.flatnonzero((data[offsets[0] : offsets[-1]] & 0xC0) != 0x80) + offsets[0]
    edges = pa.py_buffer(np.append(starts, offsets[-1]).astype(np.int32))
    flat = pa.StringArray.from_buffers(len(starts), edges, pa.py_buffer(data))
    return pa.ListArray.from_arrays(pa.array(np.searchsorted(starts, offsets), pa.int32()), flat)


def _whole(texts: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(pa.array(np.arange(len(texts) + 1), pa.int32()), texts)


TOKENIZERS: Mapping[str, Splitter] = {
    "space": _words,
    "space_punct": _words_and_marks,
    "characters": _characters,
    "underscore": partial(_by, r"\s*_\s*"),
    "comma": partial(_by, r"\s*,\s*"),
    "untokenized": _whole,
    "stripped": lambda texts: _whole(pc.utf8_trim_whitespace(texts)),
}
"""Ludwig's tokenizers that need no library and no file."""


def vocabulary_of(counts: dict[str, int], unknown: str, most_common: int | None) -> dict[str, int]:
    """Map each token to its count, in the order of the indices. `counts`: of the training rows, largest first.

    Index 0, that of the token `unknown`, counts all tokens that have no index.
    """
    others = dict(counts)
    rare = others.pop(unknown, 0)
    kept = dict(list(others.items())[:most_common])
    return {unknown: rare + sum(others.values()) - sum(kept.values()), **kept}


def known_tokens(statistics: Statistics) -> list[tuple[str, int]]:
    """The tokens that have an index of their own with their counts, the most frequent first."""
    known = list(zip(statistics["vocabulary"], statistics["counts"], strict=True))[1:]
    return sorted(known, key=lambda pair: -pair[1])  # a vocabulary of another model has another order


def token_facts(statistics: Statistics, **more: str) -> dict[str, str]:
    """The key figures of a column of tokens for the report. `more` follows the number of tokens."""
    known, rare = known_tokens(statistics), statistics["counts"][0]
    found = {"tokens": f"{len(known):,}", **more}
    if known:
        found["most frequent"] = known[0][0]
    if rare:
        found["rare, read as unknown"] = f"{share(rare, sum(statistics['counts']))} of all tokens"
    return {**found, **missing_fact(statistics)}
