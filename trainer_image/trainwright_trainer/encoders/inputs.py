"""All inputs of a model: the columns of a batch and their encoders.

The plan is made once, to keep each step cheap: neighbouring inputs that pass through unchanged are taken as one slice.
Inputs are always in the order of the config.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch import nn

from trainwright_api.config.features import InputFeature
from trainwright_api.config.outlines import SEQUENCES
from trainwright_api.config.tied import root_of
from trainwright_api.problems import Mistakes
from trainwright_trainer.encoders import encoder_for
from trainwright_trainer.encoders.base import CachedSteps, Encoder, EncoderInput, PassthroughEncoder
from trainwright_trainer.encoders.category import LabelEncoder
from trainwright_trainer.layers.linear_products import Part
from trainwright_trainer.layers.names import module_key
from trainwright_trainer.layers.steps import Steps
from trainwright_trainer.loader.batch import Batch, ColumnRange, Layout, Padded, Ragged
from trainwright_trainer.loader.layout import EMBEDDING, image_size

Statistics = Mapping[str, Mapping[str, Any]]
Step = Callable[[Any], Any]


class Relabel(nn.Module):
    """Converts label numbers of one vocabulary to those of another, in a dense column [rows, 1] or a ragged one."""

    index: torch.Tensor

    def __init__(self, labels: Sequence[str], others: Sequence[str]) -> None:
        super().__init__()
        position = {label: i for i, label in enumerate(others)}
        # Label 0 of an input's vocabulary stands for all unknown values.
        index = torch.tensor([position.get(label, 0) for label in labels], dtype=torch.int64, device="cpu")
        self.register_buffer("index", index, persistent=False)

    def forward(self, columns: torch.Tensor | Ragged | Padded) -> torch.Tensor | Ragged | Padded:
        if isinstance(columns, Padded):
            return replace(columns, index=self.index[columns.index])
        if isinstance(columns, Ragged):
            return replace(columns, values=self.index[columns.values])
        return self.index[columns]


class Inputs(nn.ModuleDict):
    """Encoders by feature. `forward` returns a tensor [rows, width] or `Steps` for each input. If `joins`, neighbouring
    float inputs that pass through share one tensor. If `looks_up`, the vectors of a category may be a `Lookup`.
    `widths` and `lengths` (None for vectors): of each input, in the order of the config. `roots`: for each input the
    name of the one whose encoder it uses. An input with embeddings in its column has no encoder."""

    def __init__(
        self,
        features: Sequence[InputFeature],
        statistics: Statistics,
        layout: Layout,
        *,
        joins: bool = True,
        looks_up: bool = False,
    ) -> None:
        super().__init__()
        self.widths: list[int] = []
        self.lengths: list[int | None] = []
        self._joins, self._looks_up = joins, looks_up
        self._plan: list[tuple[ColumnRange, tuple[Step, ...]]] = []
        self._lookups: list[tuple[int, int]] = []
        is_embedded = {feature.name: EMBEDDING in statistics[feature.name] for feature in features}
        self.roots = {one.name: one.name if is_embedded[one.name] else root_of(one, features).name for one in features}
        encoders: dict[str, Encoder] = {}
        for position, feature in enumerate(features):
            if is_embedded[feature.name]:
                encoders[feature.name] = _embedded(statistics[feature.name][EMBEDDING])
            elif feature.tied is None:
                known = shared_statistics(feature, self.roots, statistics)
                encoders[feature.name] = self._encoder(position, feature, known, layout)
        for position, feature in enumerate(features):
            relabel = self._relabel(position, feature, self.roots[feature.name], statistics)
            self._take(layout.columns[feature.name], relabel, encoders[self.roots[feature.name]])

    @property
    def output_size(self) -> int:
        return sum(self.widths)

    def forward(self, batch: Batch) -> list[Part | Steps]:
        return [_through(steps, batch.of(columns)) for columns, steps in self._plan]

    def spared(self, rows: int) -> int:
        """The multiplications for each unit of a layer that takes parts which lookups save in a pass of `rows` rows."""
        return sum(max(0, rows - size) * width for size, width in self._lookups)

    def encoded(self, position: int, values: torch.Tensor | Ragged) -> torch.Tensor | Steps:
        """The vectors [rows, width] or the `Steps` of one input, from its columns. Only without `joins`."""
        vectors: torch.Tensor | Steps = _through(self._plan[position][1], values)
        return vectors

    def _encoder(self, position: int, feature: InputFeature, statistics: Mapping[str, Any], layout: Layout) -> Encoder:
        columns = layout.columns[feature.name]
        path = f"config.input_features[{position}].encoder"
        if feature.encoder.skip and columns.kind in ("ragged", "images"):
            raise Mistakes.one(f"{path}.skip", f"a {feature.type} has no fixed width: only its encoder gives it one.")
        encoded = EncoderInput(statistics, columns.stop - columns.start, path)
        encoder = encoder_for(feature.type, feature.encoder, encoded)
        self[module_key(feature.name)] = encoder
        return encoder

    def _relabel(
        self, position: int, feature: InputFeature, root: str, statistics: Statistics
    ) -> tuple[nn.Module, ...]:
        """The step before a shared encoder, if both features have labels and number them differently.

        Raises `Mistakes` if the features' vectors or images differ in size.
        """
        own, others = statistics[feature.name], statistics[root]
        path = f"config.input_features[{position}].tied"
        if own.get("size") != others.get("size"):
            found = f"{root!r} has vectors of {others.get('size')} values, {feature.name!r} of {own.get('size')}"
            raise Mistakes.one(path, f"{found}: they cannot share an encoder.")
        if feature.type == "image" and image_size(own) != image_size(others):
            first, second = (" × ".join(map(str, image_size(one))) for one in (others, own))
            found = f"{root!r} has images of {first} (channels × height × width), {feature.name!r} of {second}"
            raise Mistakes.one(path, f"{found}: give both the same num_channels, height and width.")
        if own.get("vocabulary") == others.get("vocabulary"):
            return ()
        relabel = Relabel(own["vocabulary"], others["vocabulary"])
        self[module_key(feature.name)] = relabel
        return (relabel,)

    def _take(self, columns: ColumnRange, relabel: tuple[Step, ...], encoder: Encoder) -> None:
        last: Step = encoder
        if self._looks_up and isinstance(encoder, LabelEncoder):
            last = encoder.lookup
            self._lookups.append((encoder.size, encoder.output_size))
        steps: tuple[Step, ...] = (*relabel, last)
        self.widths.append(encoder.output_size)
        self.lengths.append(encoder.output_length)
        if isinstance(encoder, PassthroughEncoder) and columns.kind == "floats":
            steps = ()
            if self._joins and self._plan and not self._plan[-1][1] and self._plan[-1][0].stop == columns.start:
                columns = ColumnRange("floats", self._plan.pop()[0].start, columns.stop)
        self._plan.append((columns, steps))


def shared_statistics(root: InputFeature, roots: Mapping[str, str], statistics: Statistics) -> Mapping[str, Any]:
    """The statistics of the encoder of `root`: those of its column, with the most steps of all inputs that share it."""
    own = statistics[root.name]
    if root.type not in SEQUENCES:
        return own
    return {**own, "length": max(statistics[name]["length"] for name, other in roots.items() if other == root.name)}


def tied_lines(features: Sequence[InputFeature], statistics: Statistics) -> list[str]:
    """A line for each input that shares the encoder of another one, which does not know all of its values."""
    lines = []
    for feature in features:
        root = root_of(feature, features).name
        own, known = (statistics[name].get("vocabulary", ())[1:] for name in (feature.name, root))
        if others := len(set(own) - set(known)):
            unknown = f"{others:,} of the {len(own):,} values of {feature.name!r} are unknown"
            lines.append(f"tied: to the encoder of {root!r}, {unknown}: they have one vector")
    return lines


def _embedded(found: Mapping[str, Any]) -> Encoder:
    """The encoder of an input with embeddings in its column. `found`: what its statistics say of them."""
    if found["steps"] is None:
        return PassthroughEncoder(EncoderInput({}, found["width"], ""))
    return CachedSteps((found["width"] - 1) // found["steps"], found["steps"])


def _through(steps: tuple[Step, ...], values: Any) -> Any:
    for step in steps:
        values = step(values)
    return values
