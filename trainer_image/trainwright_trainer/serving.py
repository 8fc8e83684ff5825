"""Predictions of an exported model, without torch: raw columns → the ONNX graph in onnxruntime → predictions.

from trainwright_trainer.serving import load

model = load("out/export/onnx")
predictions = model.predict(frame)
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from pyarrow import Table, concat_tables

from trainwright_api.problems import Mistakes
from trainwright_trainer.data.rows import PASS_STEPS
from trainwright_trainer.export.transform import Arrays, Encoded, Transform
from trainwright_trainer.tasks.given_data import as_given, table_of

if TYPE_CHECKING:
    from trainwright_trainer.tasks.given_data import ArrowTable

ROWS_AT_A_TIME = 4_096
_IMAGES_AT_A_TIME = 64
_ATTENTION = ("transformer", "tabtransformer")
"""The combiners with a step for each input."""


@dataclass(frozen=True)
class OnnxModel:
    """An export of format onnx. `session`: its `onnxruntime.InferenceSession`."""

    transform: Transform
    session: Any

    def predict(self, data: ArrowTable) -> Any:
        """One row of predictions for each row, with the columns of `trainwright predict` but no targets.

        `data`: a pandas DataFrame or another Arrow table with the columns of the input features. The result is the same
        kind of table. A row that an input feature drops has null predictions. Warns of missing values and of categories
        that the model does not know. Raises `Mistakes` for missing columns and unreadable values.
        """
        blocks = self.transform.encode(table_of(data))
        return as_given(data, concat_tables(map(self._predicted, blocks)))

    def _predicted(self, block: Encoded) -> Table:
        return self.transform.decode(self._run(block), block)

    def _run(self, block: Encoded) -> Arrays:
        names = [one.name for one in self.transform.outputs]
        size = rows_at_a_time(self.transform)
        parts = [
            self.session.run(names, block.tensors(slice(start, start + size)))
            for start in range(0, len(block.rows), size)
        ]
        if not parts:
            return self.transform.empty_outputs()
        return {name: np.concatenate(found) for name, found in zip(names, zip(*parts, strict=True), strict=True)}


def rows_at_a_time(transform: Transform) -> int:
    """The rows of a run of the graph: fewer with images, and with texts, which have all steps in a graph."""
    ragged = {one.feature for one in transform.inputs if one.part == "lengths"}
    shapes = [one.shape for one in transform.inputs if one.part == "values" and one.feature in ragged]
    steps = sum(shape[1] for shape in shapes if isinstance(shape[1], int))
    if transform.config.combiner.type in _ATTENTION:
        steps += len(transform.config.input_features)
    most = _IMAGES_AT_A_TIME if transform.has_images else ROWS_AT_A_TIME
    return max(1, min(most, transform.most_rows, PASS_STEPS // max(steps, 1)))


def load(folder: str | Path, **session_options: Any) -> OnnxModel:
    """Load an export of format onnx from its folder.

    `session_options` go to `onnxruntime.InferenceSession`, such as `providers`. Raises `Mistakes` if the folder has no
    such export, or if onnxruntime is missing.
    """
    transform = Transform.load(Path(folder))
    path = Path(folder) / transform.graph
    if path.suffix != ".onnx":
        raise Mistakes.one("export", f"{folder} is an export for torch. Load one of format onnx.")
    try:
        import onnxruntime
    except ImportError as error:
        raise Mistakes.one("export", "needs the library onnxruntime: pip install 'trainwright[serving]'") from error
    if not path.exists():
        raise Mistakes.one("export", f"{path} is missing. Export the model again.")
    return OnnxModel(transform, onnxruntime.InferenceSession(path, **session_options))
