"""The transform beside an exported graph: raw columns → the graph's inputs, and the graph's outputs → predictions.

It is one JSON file with the config, the statistics of the training rows, and the names and shapes of the graph's inputs
and outputs. It uses the functions of preprocessing and of `predict`, so both have the same rules. It needs no torch.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright_api.config import ModelConfig, stored_config
from trainwright_api.problems import Mistakes
from trainwright_trainer.data.datasets import DataTable
from trainwright_trainer.data.formats.missing_words import without_na_values
from trainwright_trainer.data.new_data import NewData
from trainwright_trainer.data.prepared import TEST, Prepared
from trainwright_trainer.data.rows import BLOCK_ROWS, PASS_LOGITS
from trainwright_trainer.features.missing import rows_of
from trainwright_trainer.features.pillow import shaped
from trainwright_trainer.features.pixels import ImageShape, image_shape
from trainwright_trainer.models.predictions import ArraySteps, prediction_table
from trainwright_trainer.rundir import json_text

FORMAT = 1
"""The version of the file's form. A reader refuses any other."""
FILE = "transform.json"
ROWS = "rows"
_NAME = "the table"
LENGTHS = ".lengths"
"""The end of the name of an input or output that has the lengths of a feature's rows."""
Arrays = Mapping[str, npt.NDArray[Any]]
Part = Literal["values", "lengths"]


@dataclass(frozen=True)
class GraphInput:
    """One input of the graph. `part`: the encoded values of its feature, or the lengths of a feature's rows.

    `shape`: numbers, and words for sizes that are not fixed.
    """

    name: str
    feature: str
    part: Part
    dtype: str
    shape: tuple[int | str, ...]


@dataclass(frozen=True)
class GraphOutput:
    """One output of the graph: the logits of an output feature, before any probability, or the steps of a row that
    count."""

    name: str
    feature: str
    part: Part
    dtype: str
    shape: tuple[int | str, ...]


@dataclass(frozen=True)
class EncodedImages:
    """The images of some rows. A slice of the rows is decoded."""

    contents: pa.LargeBinaryArray
    shape: ImageShape

    def __getitem__(self, rows: slice) -> npt.NDArray[np.uint8]:
        """uint8 [rows, channels, height, width]."""
        shape, some = self.shape, self.contents[rows]
        found = np.empty((len(some), shape.channels, shape.height, shape.width), np.uint8)
        for row, content in enumerate(some):
            found[row] = shaped(content.as_buffer(), shape)
        return found


@dataclass(frozen=True)
class Encoded:
    """Consecutive rows, `rows`: int64 [n], those of `total` that no feature drops. `columns`: the graph's inputs by
    name; images are decoded when they are used."""

    columns: Mapping[str, npt.NDArray[Any] | EncodedImages]
    rows: npt.NDArray[np.int64]
    total: int

    def tensors(self, rows: slice = slice(None)) -> Arrays:
        """The graph's inputs by name, for some of the rows."""
        return {name: column[rows] for name, column in self.columns.items()}


@dataclass(frozen=True)
class Transform:
    """`graph`: the name of the graph's file, beside this one. `version`: the trainwright that wrote both. `na_values`:
    the words that count as missing, in addition to the usual ones."""

    config: ModelConfig
    statistics: Mapping[str, Mapping[str, Any]]
    inputs: Sequence[GraphInput]
    outputs: Sequence[GraphOutput]
    graph: str
    version: str
    na_values: Sequence[str] = ()

    def encode(self, table: pa.Table) -> Iterator[Encoded]:
        """Encode the rows of a table, as `predict` does, in blocks of consecutive rows.

        `table` has the columns of the input features. Warns at the end of what was found in it. Raises `Mistakes` for
        missing columns and unreadable values.
        """
        table = without_na_values(table, self.na_values) if self.na_values else table
        given = DataTable(table, _NAME), self.config, self.statistics
        data = NewData(*given, targets=False, decoder="pillow", most_rows=self.most_rows)
        for block in data.blocks():
            rows = block.data.rows_of(TEST)
            columns = {one.feature: _taken(block.data, one.feature, rows) for one in self.inputs}
            tensors = {one.name: self._column(columns[one.feature], one) for one in self.inputs}
            yield Encoded(tensors, rows, block.data.rows)
        for line in data.notices():
            warnings.warn(f"{_NAME}: {line}", stacklevel=3)

    def decode(self, outputs: Arrays, encoded: Encoded) -> pa.Table:
        """The predictions, one row for each row of the block. A row that an input feature drops has nulls.

        `outputs`: the outputs of the graph for the rows of `encoded`.
        """
        places = np.full(encoded.total, -1, dtype=np.int64)
        places[encoded.rows] = np.arange(len(encoded.rows))
        logits = {one.feature: outputs[one.name] for one in self.outputs if one.part == "values"}
        steps = {one.feature: outputs[one.name] for one in self.outputs if one.part == "lengths"}
        found = {name: ArraySteps(logits[name], steps[name]) if name in steps else logits[name] for name in logits}
        predicted = prediction_table(self.config, self.statistics, found)
        return predicted.take(pa.array(places, mask=places < 0))

    @property
    def most_rows(self) -> int:
        """The most rows whose logits are in memory at a time."""
        shapes = [one.shape[1:] for one in self.outputs if one.part == "values"]
        logits = sum(math.prod(size for size in shape if isinstance(size, int)) for shape in shapes)
        return max(1, min(BLOCK_ROWS, PASS_LOGITS // logits))

    @property
    def has_images(self) -> bool:
        return any(one.type == "image" for one in self.config.input_features)

    def _column(self, column: pa.Array, one: GraphInput) -> npt.NDArray[Any] | EncodedImages:
        if not len(column):
            return _empty(one.dtype, one.shape)
        if not pa.types.is_large_binary(column.type):
            return _tensor(column, one)
        (feature,) = (feature for feature in self.config.input_features if feature.name == one.feature)
        return EncodedImages(column, image_shape(feature.preprocessing, self.statistics[one.feature]))

    def empty_outputs(self) -> Arrays:
        """The outputs of the graph for no row, without running it."""
        return {one.name: _empty(one.dtype, one.shape) for one in self.outputs}

    def to_json(self) -> bytes:
        body = {
            "format": FORMAT,
            "version": self.version,
            "graph": self.graph,
            "inputs": [asdict(one) for one in self.inputs],
            "outputs": [asdict(one) for one in self.outputs],
            "config": self.config.model_dump(mode="json", by_alias=True),
            "statistics": self.statistics,
            "na_values": list(self.na_values),
        }
        return json_text.exact(body) + b"\n"

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read the transform of an export's folder. Raises `Mistakes` if there is none, or one of another version."""
        path = folder / FILE
        try:
            body = json_text.parse(path.read_bytes())
        except FileNotFoundError as error:
            line = f"there is no {path}. An export is the folder that `trainwright export` writes."
            raise Mistakes.one("export", line) from error
        except ValueError as error:
            raise Mistakes.one("export", f"{path} is damaged: it is no JSON") from error
        found = body.get("format") if isinstance(body, dict) else None
        if found != FORMAT:
            line = f"{path} has format {found}, this version reads {FORMAT}. Export the model again."
            raise Mistakes.one("export", line)
        return cls(
            stored_config(body["config"]),
            body["statistics"],
            [GraphInput(**{**one, "shape": tuple(one["shape"])}) for one in body["inputs"]],
            [GraphOutput(**{**one, "shape": tuple(one["shape"])}) for one in body["outputs"]],
            body["graph"],
            body["version"],
            body.get("na_values", ()),
        )


def _taken(data: Prepared, feature: str, rows: npt.NDArray[np.int64]) -> pa.Array:
    """The rows `rows` of an encoded column."""
    whole = data.columns[feature]
    column = whole.chunk(0) if whole.num_chunks == 1 else pa.concat_arrays(whole.chunks)
    return column if len(rows) == len(column) else column.take(pa.array(rows))


def _tensor(column: pa.Array, one: GraphInput) -> npt.NDArray[Any]:
    if not pa.types.is_large_list(column.type):
        return np.array(rows_of(column).reshape(len(column), -1), dtype=one.dtype, order="C")  # writable, for torch
    offsets = column.offsets.to_numpy()
    lengths = np.diff(offsets)
    if one.part == "lengths":
        return np.asarray(lengths, one.dtype)
    length = one.shape[1] if isinstance(one.shape[1], int) else int(lengths.max(initial=1))
    tensor = np.zeros((len(lengths), length), one.dtype)
    tensor[np.arange(length) < lengths[:, None]] = column.values.to_numpy()[offsets[0] : offsets[-1]]
    return tensor


def _empty(dtype: str, shape: Sequence[int | str]) -> npt.NDArray[Any]:
    return np.zeros([size if isinstance(size, int) else 0 for size in shape], dtype)
