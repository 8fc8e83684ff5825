"""Texts as tokens of a pretrained model's tokenizer. Its text is part of the statistics, so encoding reads no file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright_api.problems import Mistakes
from trainwright_trainer.features.category import UNKNOWN
from trainwright_trainer.features.column import Encoded, Feature, Statistics
from trainwright_trainer.features.missing import mask_of, settle_lists
from trainwright_trainer.features.pretrained import PretrainedFiles, files_of
from trainwright_trainer.features.tokens import WITHOUT_TOKENS, list_array

HF_TOKENIZER = "hf_tokenizer"


def pretrained_files(feature: Feature) -> PretrainedFiles | None:
    """The files of the model whose tokenizer the feature uses; None for other tokenizers. Raises `Mistakes`."""
    section = feature.preprocessing
    if getattr(section, "tokenizer", None) != HF_TOKENIZER:
        return None
    path = f"{feature.path}.preprocessing.pretrained_model_name_or_path"
    if section.pretrained_model_name_or_path is None:
        raise Mistakes.one(path, "hf_tokenizer needs the name or the folder of a pretrained model")
    return files_of(section.pretrained_model_name_or_path, path)


def conclude(feature: Feature, rows: int, missing: int, most_frequent: str | None) -> dict[str, Any]:
    """The statistics of the feature. `most_frequent`: the text for `fill_with_mode`."""
    files, section = pretrained_files(feature), feature.preprocessing
    assert files is not None, "the feature uses the tokenizer of a pretrained model"
    limits = [one for one in (section.sequence_length, section.max_sequence_length, files.limit) if one is not None]
    if not limits:
        path = f"{feature.path}.preprocessing.max_sequence_length"
        raise Mistakes.one(path, "null: the tokenizer has no limit of its own, so give one")
    _check_length(feature, files.tokenizer, min(limits))
    statistics = {
        "type": feature.type,
        "rows": rows,
        "missing": missing,
        "vocabulary": _words(files.tokenizer),
        "tokenizer": files.tokenizer,
        "pretrained": files.config,
        "length": min(limits),
        "padding": section.padding,
    }
    text = _fill_text(feature, most_frequent)
    codes, _, _ = codes_of(pa.array([text or ""]), statistics)
    return {**statistics, "fill": None if text is None else codes.tolist()}


def _check_length(feature: Feature, tokenizer: str, length: int) -> None:
    """Raise `Mistakes` if the tokens that the tokenizer adds around each text leave no place for the text."""
    from tokenizers import Tokenizer

    added = Tokenizer.from_str(tokenizer).num_special_tokens_to_add(False)
    if length <= added:
        path = f"{feature.path}.preprocessing.max_sequence_length"
        raise Mistakes.one(path, f"texts keep {length} tokens, and the tokenizer adds {added} to each: keep more")


def _fill_text(feature: Feature, most_frequent: str | None) -> str | None:
    """The text of missing values; None if they are not filled with one. A missing text is an empty one by default."""
    if feature.strategy == "fill_with_mode":
        return most_frequent or ""
    given = feature.preprocessing.fill_value
    return None if feature.strategy != "fill_with_const" else "" if given == UNKNOWN else given


def encode(feature: Feature, values: pa.LargeListArray, statistics: Statistics) -> Encoded:
    """`values`: each row's whole text, or nothing. Every row gets the tokens that the model expects around a text."""
    rows: Sequence[list[str] | None] = values.to_pylist()
    codes, offsets, cut = codes_of(pa.array([row[0] if row else "" for row in rows], pa.string()), statistics)
    settled = settle_lists(
        list_array(pa.array(codes), offsets, None), mask_of(values), feature.strategy, statistics["fill"]
    )
    line = f"rows of more than {statistics['length']:,} tokens, whose other tokens are left out"
    empty = sum(row is not None and not "".join(row).strip() for row in rows)
    return replace(settled, noted={text: many for text, many in ((line, cut), (WITHOUT_TOKENS, empty)) if many})


def codes_of(texts: pa.StringArray, statistics: Statistics) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.int64], int]:
    """int32 [n]: the tokens of all texts; int64 [rows + 1]: their offsets; and the number of truncated texts."""
    found = _tokenizer(statistics["tokenizer"], statistics["length"]).encode_batch(texts.to_pylist())
    codes = np.array([code for one in found for code in one.ids], np.int32)
    return codes, np.cumsum([0, *(len(one.ids) for one in found)]), sum(bool(one.overflowing) for one in found)


@lru_cache(maxsize=16)
def _tokenizer(text: str, length: int) -> Any:
    from tokenizers import Tokenizer

    found = Tokenizer.from_str(text)
    found.no_padding()
    found.enable_truncation(length)
    return found


def _words(text: str) -> list[str]:
    """The tokens in the order of their indices; an index without a token is empty."""
    from tokenizers import Tokenizer

    known = {code: word for word, code in Tokenizer.from_str(text).get_vocab().items()}
    return [known.get(code, "") for code in range(max(known) + 1)]


def facts(statistics: Statistics) -> dict[str, str]:
    return {"tokens of the model": f"{len(statistics['vocabulary']):,}"}
