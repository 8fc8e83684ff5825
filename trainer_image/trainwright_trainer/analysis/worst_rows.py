"""The rows with the largest losses, with their predictions and their raw values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from trainwright_trainer.analysis.deadline import Deadline
from trainwright_trainer.analysis.subject import Subject
from trainwright_trainer.callbacks import formats
from trainwright_trainer.data.raw_rows import RawRow, raw_rows
from trainwright_trainer.data.rows import Block
from trainwright_trainer.data.selection import features_of
from trainwright_trainer.frames.interface import Source
from trainwright_trainer.metrics.worst_rows import WorstRows
from trainwright_trainer.models.predictions import prediction_table
from trainwright_trainer.report.data import WorstRow

MAX_CHARACTERS = 200


def raw_values(
    data: Callable[[], Source[Block]], worst: Mapping[str, WorstRows], deadline: Deadline
) -> dict[int, RawRow]:
    """The raw columns of the worst rows of all outputs. `data` opens the columns.

    Rows that are not read before the deadline are missing. Raises the errors of a read.
    """
    rows = _rows_of(worst)
    return raw_rows(data(), rows.tolist(), lambda: deadline.passed) if len(rows) and not deadline.passed else {}


def worst_rows(
    subject: Subject, worst: Mapping[str, WorstRows], values: Mapping[int, RawRow]
) -> dict[str, list[WorstRow]]:
    """The worst rows of each output, with their `values`."""
    rows = _rows_of(worst)
    if not len(rows):
        return {}
    predicted = _predictions(subject, rows)
    return {
        name: [
            WorstRow(row, loss, predicted[name][row], _texts(values.get(row)))
            for row, loss in zip(one.rows.tolist(), one.losses.tolist(), strict=True)
        ]
        for name, one in worst.items()
    }


def _rows_of(worst: Mapping[str, WorstRows]) -> npt.NDArray[np.int64]:
    """The numbers of the worst rows of all outputs, ascending."""
    return np.unique(np.concatenate([one.rows for one in worst.values()])) if worst else np.empty(0, dtype=np.int64)


def columns_of(subject: Subject, output: str) -> tuple[str, ...]:
    """The column of the output, then those of the inputs."""
    features = features_of(subject.config)
    own = [feature.column for feature in features if feature.name == output]
    return tuple(dict.fromkeys([*own, *(feature.column for feature in features if not feature.is_target)]))


def _predictions(subject: Subject, rows: npt.NDArray[np.int64]) -> dict[str, dict[int, str]]:
    """The predictions as text, by output and row."""
    found: dict[str, dict[int, str]] = {feature.name: {} for feature in subject.config.output_features}
    for logits, batch in subject.predictions(subject.batch(rows)):
        table = prediction_table(subject.config, subject.data.statistics, logits).to_pylist()
        for row, cells in zip(batch.rows.tolist(), table, strict=True):
            for name, texts in found.items():
                texts[row] = _prediction(cells[f"{name}_predictions"], cells.get(f"{name}_probability"))
    return found


def _prediction(value: Any, probability: float | None) -> str:
    return text_of(value) if probability is None else f"{text_of(value)} ({formats.percent(probability)})"


def _texts(values: RawRow | None) -> dict[str, str] | None:
    return None if values is None else {name: text_of(value) for name, value in values.items()}


def text_of(value: Any) -> str:
    """A raw value for people. A missing one is a dash."""
    if value is None:
        return formats.NOTHING
    if isinstance(value, float):
        return formats.score(value) if abs(value) < 1e15 else f"{value:.4g}"
    if isinstance(value, bytes):
        return _text_of_bytes(value)
    if isinstance(value, list | tuple):
        return formats.shorten(", ".join(map(text_of, value)), MAX_CHARACTERS)
    return formats.shorten(str(value), MAX_CHARACTERS)


def _text_of_bytes(value: bytes) -> str:
    """Text that its file does not mark as such, or the size of an image."""
    try:
        return formats.shorten(value.decode(), MAX_CHARACTERS)
    except UnicodeDecodeError:
        return f"{len(value) / 1000:.3g} kB"
