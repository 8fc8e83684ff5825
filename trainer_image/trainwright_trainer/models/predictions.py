"""Predictions as columns of a table, with Ludwig's names.

number    <output>_predictions (in the target's own units, clipped if the output has `clip`)
binary    <output>_predictions (a label), <output>_probability (of that label), <output>_probabilities_<label>
category  like binary, with one column of probabilities for each class; with `top_k` two lists of the likeliest classes
          instead: <output>_top_k_predictions, <output>_top_k_probabilities
vector    <output>_predictions (a list of floats)
sequence, <output>_predictions (a list of tokens), <output>_probabilities (one for each token),
text      <output>_probability (their product)
set       <output>_predictions (a list of tokens), <output>_probabilities (those of these tokens)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright_api.config import ModelConfig
from trainwright_trainer.models.units import Array, numbers, probability, softmax, vectors

if TYPE_CHECKING:
    import torch

    from trainwright_trainer.layers.steps import Steps

Columns = dict[str, pa.Array]


class ArraySteps(NamedTuple):
    """The logits of a sequence where there is no torch, like `Steps`. `values`: [rows, length, tokens]. `lengths`:
    int64 [rows]."""

    values: Array
    lengths: npt.NDArray[np.int64]


def prediction_table(
    config: ModelConfig,
    statistics: Mapping[str, Mapping[str, Any]],
    logits: Mapping[str, torch.Tensor | Array | Steps | ArraySteps],
    top_k: int | None = None,
) -> pa.Table:
    """One row for each row of the logits, outputs in the order of the config. Floats are float64, labels strings.

    The logits are tensors, or arrays where there is no torch. `top_k`: the classes of a category that are in the table.
    """
    columns: Columns = {}
    for feature in config.output_features:
        known, found = statistics[feature.name], logits[feature.name]
        if isinstance(found, tuple):
            columns |= _sequence(feature.name, known["vocabulary"], _wide(found.values), _array(found.lengths))
        elif top_k is not None and feature.type == "category":
            columns |= _likeliest(feature.name, known["vocabulary"], softmax(_wide(found)), top_k)
        else:
            columns |= _COLUMNS[feature.type](feature, known, _wide(found))
    return pa.table(columns)


def _wide(logits: torch.Tensor | Array) -> Array:
    """The same in float64, on the CPU."""
    return logits.astype(np.float64) if isinstance(logits, np.ndarray) else logits.detach().double().cpu().numpy()


def _array(values: torch.Tensor | npt.NDArray[Any]) -> npt.NDArray[Any]:
    return values if isinstance(values, np.ndarray) else values.cpu().numpy()


def _number(feature: Any, statistics: Mapping[str, Any], logits: Array) -> Columns:
    return {f"{feature.name}_predictions": pa.array(numbers(feature, statistics, logits))}


def _binary(feature: Any, statistics: Mapping[str, Any], logits: Array) -> Columns:
    true = probability(logits)
    shares = np.stack([1 - true, true], 1)
    predicted = (true >= feature.threshold).astype(np.int64)
    return _classes(feature.name, [statistics["false"], statistics["true"]], shares, predicted)


def _category(feature: Any, statistics: Mapping[str, Any], logits: Array) -> Columns:
    return _classes(feature.name, statistics["vocabulary"], softmax(logits), logits.argmax(1))


def _classes(name: str, labels: list[str], shares: Array, predicted: Array) -> Columns:
    """`shares`: [rows, classes]. `predicted`: class numbers [rows]."""
    texts = pa.array(labels, pa.string())
    return {
        f"{name}_predictions": texts.take(pa.array(predicted)),
        f"{name}_probability": pa.array(shares[np.arange(len(shares)), predicted]),
        **{f"{name}_probabilities_{label}": pa.array(shares[:, i]) for i, label in enumerate(labels)},
    }


def _likeliest(name: str, labels: list[str], shares: Array, most: int) -> Columns:
    """`shares`: [rows, classes]. Of equally likely classes, the first of the vocabulary comes first."""
    classes = np.argsort(-shares, axis=1, kind="stable")[:, :most]
    likely = np.take_along_axis(shares, classes, 1)
    offsets = pa.array(np.arange(len(shares) + 1, dtype=np.int32) * classes.shape[1])
    texts = pa.array(labels, pa.string())
    return {
        f"{name}_predictions": texts.take(pa.array(classes[:, 0])),
        f"{name}_probability": pa.array(likely[:, 0]),
        f"{name}_top_k_predictions": pa.ListArray.from_arrays(offsets, texts.take(pa.array(classes.ravel()))),
        f"{name}_top_k_probabilities": pa.ListArray.from_arrays(offsets, pa.array(likely.ravel())),
    }


def _vector(feature: Any, statistics: Mapping[str, Any], logits: Array) -> Columns:
    values = vectors(feature, logits)
    offsets = np.arange(len(values) + 1, dtype=np.int32) * statistics["size"]
    return {f"{feature.name}_predictions": pa.ListArray.from_arrays(pa.array(offsets), pa.array(values.ravel()))}


def _set(feature: Any, statistics: Mapping[str, Any], logits: Array) -> Columns:
    shares = probability(logits)
    chosen = shares >= feature.threshold
    offsets = pa.array(np.concatenate([[0], np.cumsum(chosen.sum(1))]).astype(np.int32))
    tokens = pa.array(statistics["vocabulary"], pa.string()).take(pa.array(np.nonzero(chosen)[1]))
    return {
        f"{feature.name}_predictions": pa.ListArray.from_arrays(offsets, tokens),
        f"{feature.name}_probabilities": pa.ListArray.from_arrays(offsets, pa.array(shares[chosen])),
    }


def _sequence(name: str, vocabulary: list[str], logits: Array, lengths: Array) -> Columns:
    """`logits`: [rows, length, tokens], of which the first `lengths` steps of a row count."""
    shares, mask = softmax(logits).max(2), np.arange(logits.shape[1]) < lengths[:, None]
    offsets = pa.array(np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32))
    words = pa.array(vocabulary, pa.string()).take(pa.array(logits.argmax(2)[mask]))
    return {
        f"{name}_predictions": pa.ListArray.from_arrays(offsets, words),
        f"{name}_probability": pa.array(np.where(mask, shares, 1.0).prod(1)),
        f"{name}_probabilities": pa.ListArray.from_arrays(offsets, pa.array(shares[mask])),
    }


_COLUMNS: Mapping[str, Callable[[Any, Mapping[str, Any], Array], Columns]] = {
    "number": _number,
    "binary": _binary,
    "category": _category,
    "vector": _vector,
    "set": _set,
}
