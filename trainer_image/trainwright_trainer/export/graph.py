"""The graph of an export: a trained model as a function from named tensors to logits, traced by `torch.export`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import torch
from torch import nn
from torch.export import Dim, ExportedProgram

from trainwright_api.config import ModelConfig
from trainwright_api.problems import Mistakes
from trainwright_trainer.decoders.width import width_of
from trainwright_trainer.export.transform import ROWS, GraphInput, GraphOutput
from trainwright_trainer.loader.batch import Batch, Layout, Padded
from trainwright_trainer.models.model import DTYPES, Model

LENGTHS = ".lengths"
"""The end of the name of an input that has the lengths of a feature's rows."""
_ANY_LENGTH = ("set", "bag")
_EXAMPLE_ROWS = 2  # tracing takes a size of 0 or 1 for a constant


class Graph(nn.Module):
    """The model without targets. `forward` takes the tensors of `inputs` in their order."""

    def __init__(self, model: Model, layout: Layout, inputs: Sequence[GraphInput], outputs: Sequence[GraphOutput]):
        super().__init__()
        self.model = model
        self._names = [one.name for one in inputs]
        self._kinds = {one.name: layout.columns[one.feature].kind for one in inputs}
        self._outputs = [one.name for one in outputs]

    def forward(self, *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        given = dict(zip(self._names, tensors, strict=True))
        dense = {
            kind: [given[name] for name in self._names if self._kinds[name] == kind] for kind in ("floats", "ints")
        }
        empty = tensors[0].new_empty((tensors[0].shape[0], 0))
        floats, ints = (torch.cat(parts, 1) if parts else empty for parts in dense.values())
        ragged: Any = tuple(
            Padded(given[name], given[name + LENGTHS])
            for name in self._names
            if self._kinds[name] == "ragged" and name + LENGTHS in given
        )
        logits = self.model(Batch(floats, ints, np.empty(0, np.int64), ragged))
        return tuple(logits[name] for name in self._outputs)


def graph_inputs(config: ModelConfig, statistics: Mapping[str, Mapping[str, Any]], layout: Layout) -> list[GraphInput]:
    """The inputs of the graph, in the order of the config. A ragged feature has a second one, with its lengths.

    Sequences and texts have the length of the longest row that the model reads; sets and bags have any length. Raises
    `Mistakes` if two inputs have the same name.
    """
    found: list[GraphInput] = []
    for feature in config.input_features:
        name, columns = feature.name, layout.columns[feature.name]
        if columns.kind != "ragged":
            dtype = config.trainer.precision if columns.kind == "floats" else "int64"
            found.append(GraphInput(name, name, "values", dtype, (ROWS, columns.stop - columns.start)))
            continue
        length = f"length of {name}" if feature.type in _ANY_LENGTH else statistics[name]["length"]
        found.append(GraphInput(name, name, "values", "int64", (ROWS, length)))
        found.append(GraphInput(name + LENGTHS, name, "lengths", "int64", (ROWS,)))
    names = [one.name for one in found]
    for position, feature in enumerate(config.input_features):
        if names.count(feature.name) > 1:
            line = f"{feature.name!r} is also the input of the graph with the lengths of another feature: rename it"
            raise Mistakes.one(f"config.input_features[{position}].name", line)
    return found


def graph_outputs(config: ModelConfig, statistics: Mapping[str, Mapping[str, Any]]) -> list[GraphOutput]:
    """The outputs of the graph: the logits of each output feature, in the order of the config."""
    found = []
    for feature in config.output_features:
        width = width_of(feature, statistics[feature.name])
        shape = (ROWS,) if feature.type in ("number", "binary") else (ROWS, width)
        found.append(GraphOutput(feature.name, config.trainer.precision, shape))
    return found


def traced(
    model: Model, layout: Layout, inputs: Sequence[GraphInput], outputs: Sequence[GraphOutput]
) -> ExportedProgram:
    """The program of the graph, for any number of rows. `model` is in eval mode, with its weights on the CPU."""
    sizes: dict[str, Dim] = {}
    examples, shapes = [], []
    for place, one in enumerate(inputs):
        free = {axis: size for axis, size in enumerate(one.shape) if isinstance(size, str)}
        for size in free.values():
            sizes.setdefault(size, Dim(ROWS if size == ROWS else f"length_{place}"))
        shape = [_EXAMPLE_ROWS if isinstance(size, str) else size for size in one.shape]
        fill = 1 if one.part == "lengths" else 0
        examples.append(torch.full(shape, fill, dtype=DTYPES.get(one.dtype, torch.int64)))
        shapes.append({axis: sizes[size] for axis, size in free.items()})
    graph = Graph(model, layout, inputs, outputs).eval().requires_grad_(False)
    with torch.no_grad():
        return torch.export.export(graph, tuple(examples), dynamic_shapes=(tuple(shapes),))
