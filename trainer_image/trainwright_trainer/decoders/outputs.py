"""All outputs of a model: their decoders, each after the decoders that it depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from typing import Any

import torch
from torch import nn

from trainwright_api.config.features import OutputFeature, VectorOutput
from trainwright_trainer.decoders import DECODERS
from trainwright_trainer.decoders.affine_output import affine_output_of
from trainwright_trainer.decoders.base import Decoder, agree
from trainwright_trainer.layers.names import module_key
from trainwright_trainer.layers.reduce import Reduction

Statistics = Mapping[str, Mapping[str, Any]]


class Outputs(nn.ModuleDict):
    """combined [rows, input_size] → logits by output, in the order of the config.

    With `length`, combined is [rows, length, input_size], and each output reduces it to a vector in its own way. The
    input of an output is the combined vector, followed by the last hidden state of each output that it depends on.
    Logits of numbers and binaries are [rows], of vectors [rows, size], of categories [rows, classes], of sets [rows,
    tokens].
    """

    def __init__(
        self, features: Sequence[OutputFeature], statistics: Statistics, input_size: int, length: int | None = None
    ) -> None:
        super().__init__()
        self._names = [feature.name for feature in features]
        by_name = {feature.name: (position, feature) for position, feature in enumerate(features)}
        self._plan: list[tuple[str, Decoder, tuple[str, ...], bool, bool]] = []
        hidden: dict[str, int] = {}
        for name in _in_order(features):
            position, feature = by_name[name]
            seen = tuple(feature.dependencies)
            reduction = _reduction(feature, input_size, length)
            size = reduction.output_size if reduction else input_size
            size += sum(hidden[other] for other in seen)
            decoder = _decoder(f"config.output_features[{position}]", feature, statistics[name], size)
            decoder.reduction = reduction
            if getattr(feature, "calibration", False):
                decoder.temperature = torch.ones(1, device="cpu")
            hidden[name] = decoder.hidden_size
            self[module_key(name)] = decoder
            self._plan.append((name, decoder, seen, feature.type in ("number", "binary"), _ends_in_softmax(feature)))

    def spread_of(self, name: str) -> float | None:
        """The standard deviation in the start of an output; None if the output has no start, or one without scale."""
        decoder = self[module_key(name)]
        assert isinstance(decoder, Decoder)
        return None if decoder.start is None else decoder.start.spread

    @property
    def calibrated(self) -> list[str]:
        """The outputs with a temperature."""
        return [name for name, decoder, *_ in self._plan if decoder.temperature is not None]

    def set_temperatures(self, temperatures: Mapping[str, float]) -> None:
        for name, decoder, *_ in self._plan:
            if decoder.temperature is not None:
                decoder.temperature.fill_(temperatures[name])

    def forward(self, combined: torch.Tensor) -> dict[str, torch.Tensor]:
        states: dict[str, torch.Tensor] = {}
        logits: dict[str, torch.Tensor] = {}
        for name, decoder, seen, single, softmax in self._plan:
            vector = combined if decoder.reduction is None else decoder.reduction(combined)
            rows = torch.cat([vector, *(states[other] for other in seen)], 1) if seen else vector
            states[name] = decoder.hidden(rows)
            values = decoder.calibrated(decoder(states[name]))
            logits[name] = values.squeeze(1) if single else torch.softmax(values, 1) if softmax else values
        return {name: logits[name] for name in self._names} if len(logits) > 1 else logits


def _decoder(path: str, feature: OutputFeature, statistics: Mapping[str, Any], input_size: int) -> Decoder:
    agree(feature.input_size, input_size, f"{path}.input_size")
    width = width_of(feature.type, statistics)
    agree(feature.num_classes, width, f"{path}.num_classes")
    if isinstance(feature, VectorOutput):
        agree(feature.vector_size, width, f"{path}.vector_size")
    start = affine_output_of(feature, statistics)
    return DECODERS[feature.decoder.type](feature.decoder, input_size, width, f"{path}.decoder", start)


def _reduction(feature: OutputFeature, width: int, length: int | None) -> Reduction | None:
    """The contract refuses a null `reduce_input` if the combiner returns a sequence."""
    return None if length is None or feature.reduce_input is None else Reduction(feature.reduce_input, length, width)


def width_of(type_: str, statistics: Mapping[str, Any]) -> int:
    """The number of logits a row."""
    if type_ in ("category", "set"):
        return len(statistics["vocabulary"])
    return int(statistics["size"]) if type_ == "vector" else 1


def _ends_in_softmax(feature: OutputFeature) -> bool:
    """True if the decoder ends in a softmax, as in Ludwig's documentation. Softmax cross entropy takes logits, so the
    decoder then leaves the softmax out."""
    return isinstance(feature, VectorOutput) and feature.softmax and feature.loss.type != "softmax_cross_entropy"


def _in_order(features: Sequence[OutputFeature]) -> list[str]:
    """The names of the outputs, each after its dependencies. The contract checks that these exist and are acyclic."""
    return list(TopologicalSorter({feature.name: feature.dependencies for feature in features}).static_order())
