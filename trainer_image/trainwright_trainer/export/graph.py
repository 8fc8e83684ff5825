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
from trainwright_trainer.export.transform import LENGTHS, ROWS, GraphInput, GraphOutput, Part
from trainwright_trainer.layers.steps import Steps
from trainwright_trainer.loader.batch import Batch, Layout, Padded
from trainwright_trainer.loader.layout import image_size
from trainwright_trainer.models.model import DTYPES, Model
from trainwright_trainer.models.targets import SEQUENCES

_ANY_LENGTH = ("set", "bag")
_EXAMPLE_ROWS = 2  # tracing takes a size of 0 or 1 for a constant


class Graph(nn.Module):
    """The model without targets. `forward` takes the tensors of `inputs` in their order."""

    def __init__(self, model: Model, layout: Layout, inputs: Sequence[GraphInput], outputs: Sequence[GraphOutput]):
        super().__init__()
        self.model = model
        self._names = [one.name for one in inputs]
        self._kinds = {one.name: layout.columns[one.feature].kind for one in inputs}
        self._outputs = [(one.feature, one.part) for one in outputs]

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
        images = tuple(given[name] for name in self._names if self._kinds[name] == "images")
        found = self.model.predict(Batch(floats, ints, np.empty(0, np.int64), ragged, images))
        return tuple(_part(found[name], part) for name, part in self._outputs)


def _part(logits: torch.Tensor | Steps, part: Part) -> torch.Tensor:
    if isinstance(logits, Steps):
        return logits.values if part == "values" else logits.lengths
    return logits


def graph_inputs(config: ModelConfig, statistics: Mapping[str, Mapping[str, Any]], layout: Layout) -> list[GraphInput]:
    """The inputs of the graph, in the order of the config. A ragged feature has a second one, with its lengths.

    Sequences and texts have the length of the longest row that the model reads; sets and bags have any length.
    """
    found: list[GraphInput] = []
    for feature in config.input_features:
        name, columns = feature.name, layout.columns[feature.name]
        if columns.kind == "images":
            found.append(GraphInput(name, name, "values", "uint8", (ROWS, *image_size(statistics[name]))))
            continue
        if columns.kind != "ragged":
            dtype = _dtype(config) if columns.kind == "floats" else "int64"
            found.append(GraphInput(name, name, "values", dtype, (ROWS, columns.stop - columns.start)))
            continue
        length = f"length of {name}" if feature.type in _ANY_LENGTH else statistics[name]["length"]
        found.append(GraphInput(name, name, "values", "int64", (ROWS, length)))
        found.append(GraphInput(name + LENGTHS, name, "lengths", "int64", (ROWS,)))
    return found


def graph_outputs(
    config: ModelConfig, statistics: Mapping[str, Mapping[str, Any]], steps: int | None
) -> list[GraphOutput]:
    """The outputs of the graph: the logits of each output feature, in the order of the config. A sequence has a second
    one, with the steps of each row that count.

    `steps`: the length of the sequences that the combiner returns, which a tagger keeps.
    """
    found = []
    for feature in config.output_features:
        known, dtype = statistics[feature.name], _dtype(config)
        width = width_of(feature, known)
        shape: tuple[int | str, ...] = (ROWS,) if feature.type in ("number", "binary") else (ROWS, width)
        if feature.type in SEQUENCES:
            length = steps if feature.decoder.type == "tagger" and steps is not None else known["length"]
            shape = (ROWS, length, width)
        found.append(GraphOutput(feature.name, feature.name, "values", dtype, shape))
        if feature.type in SEQUENCES:
            found.append(GraphOutput(feature.name + LENGTHS, feature.name, "lengths", "int64", (ROWS,)))
    return found


def refuse_equal_names(config: ModelConfig, inputs: Sequence[GraphInput], outputs: Sequence[GraphOutput]) -> None:
    """Raise `Mistakes` if two of the inputs and outputs have the same name."""
    names = [*(one.name for one in inputs), *(one.name for one in outputs)]
    for section in ("input_features", "output_features"):
        for position, feature in enumerate(getattr(config, section)):
            if names.count(feature.name) > 1:
                line = f"{feature.name!r} is also the name of the lengths of another feature in the graph: rename it"
                raise Mistakes.one(f"config.{section}[{position}].name", line)


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
        examples.append(torch.full(shape, fill, dtype=getattr(torch, one.dtype)))
        shapes.append({axis: sizes[size] for axis, size in free.items()})
    graph = Graph(model, layout, inputs, outputs).eval().requires_grad_(False)
    with torch.no_grad():
        return torch.export.export(graph, tuple(examples), dynamic_shapes=(tuple(shapes),))


def _dtype(config: ModelConfig) -> str:
    return str(DTYPES[config.trainer.precision]).removeprefix("torch.")
