"""The sizes of a suggested model, as docs/init.md lists them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_COMBINERS: tuple[tuple[int, Mapping[str, Any]], ...] = (
    (2_000, {"type": "concat"}),
    (20_000, {"type": "concat", "num_fc_layers": 1, "output_size": 64, "dropout": 0.1}),
    (200_000, {"type": "concat", "num_fc_layers": 2, "output_size": 128, "dropout": 0.2}),
)
_LARGEST: Mapping[str, Any] = {"type": "concat", "num_fc_layers": 2, "output_size": 256, "dropout": 0.3}
_MOST_ONE_HOT = 10
_WIDEST = 50
_ROOM = 0.25
"""The share of the memory that encoded rows may take before they are read in windows."""


def combiner_of(rows: int) -> dict[str, Any]:
    """The combiner for a table of so many rows: a linear model for few rows, layers for more."""
    return dict(next((combiner for most, combiner in _COMBINERS if rows < most), _LARGEST))


def category_encoder(values: int) -> dict[str, Any]:
    """One-hot vectors for few values; else embeddings of 1.6 · n^0.56 numbers, at most 50 (as fastai sizes them)."""
    if values <= _MOST_ONE_HOT:
        return {"type": "onehot"}
    return {"type": "dense", "embedding_size": min(_WIDEST, round(1.6 * values**0.56))}


def text_preprocessing(mean_words: float, most_words: int) -> dict[str, Any]:
    """Lower case, and twice as many tokens as a text has words on average: from 16 to 256, at most the longest."""
    limit = min(256, max(16, round(2 * mean_words)), max(most_words, 1) * 2)
    return {"lowercase": True, "max_sequence_length": limit}


def text_encoder() -> dict[str, Any]:
    """The mean of learnt embeddings: a small encoder that needs no pretrained weights."""
    return {"type": "embed", "embedding_size": 64, "reduce_output": "mean", "dropout": 0.3}


def needs_windows(encoded_bytes: float, usable_bytes: int) -> bool:
    return encoded_bytes > _ROOM * usable_bytes
