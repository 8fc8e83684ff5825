"""All outputs of a model: their decoders, each after the decoders that it depends on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

import torch
from torch import nn

from trainwright_api.config.features import OutputFeature, VectorOutput
from trainwright_trainer.decoders import DECODERS
from trainwright_trainer.decoders.affine_output import affine_output_of
from trainwright_trainer.decoders.base import Decoder, agree
from trainwright_trainer.decoders.sequence import SequenceDecoder
from trainwright_trainer.decoders.source import Source
from trainwright_trainer.decoders.width import width_of
from trainwright_trainer.layers.names import module_key
from trainwright_trainer.layers.steps import Steps
from trainwright_trainer.loader.batch import Ragged

Statistics = Mapping[str, Mapping[str, Any]]
Logits = dict[str, torch.Tensor | Steps]


@dataclass(frozen=True)
class _Planned:
    """An output, its decoder, and the end of its logits: one column becomes none, or a softmax follows.

    `steps`: the decoder's, if it is one of sequences.
    """

    name: str
    decoder: Decoder
    steps: Callable[[Any, Ragged | None], Steps] | None
    is_single: bool
    ends_in_softmax: bool


class Outputs(nn.ModuleDict):
    """combined [rows, input_size] → logits by output, in the order of the config.

    With `length`, combined is [rows, length, input_size], or `Steps` of at most so many vectors. Each output reduces
    them to a vector in its own way, or takes each step. The input of an output is the combined vector, followed by the
    last hidden state of each output that it depends on. Logits of numbers and binaries are [rows], of vectors [rows,
    size], of categories [rows, classes], of sets [rows, tokens]; of sequences they are `Steps` of logits of tokens.
    """

    def __init__(
        self, features: Sequence[OutputFeature], statistics: Statistics, input_size: int, length: int | None = None
    ) -> None:
        super().__init__()
        self._names = [feature.name for feature in features]
        by_name = {feature.name: (position, feature) for position, feature in enumerate(features)}
        self._plan: list[_Planned] = []
        hidden: dict[str, tuple[int, int | None]] = {}
        for name in _in_order(features):
            position, feature = by_name[name]
            path = f"config.output_features[{position}]"
            seen = {other: hidden[other] for other in feature.dependencies}
            source = Source(feature, input_size, length, seen, path)
            decoder = _decoder(path, feature, statistics[name], source.output_size)
            decoder.source = source
            if getattr(feature, "calibration", False):
                decoder.temperature = torch.ones(1, device="cpu")
            hidden[name] = (decoder.hidden_size, length if decoder.takes_sequences else None)
            self[module_key(name)] = decoder
            single = feature.type in ("number", "binary")
            steps = decoder.steps if isinstance(decoder, SequenceDecoder) else None
            self._plan.append(_Planned(name, decoder, steps, single, _ends_in_softmax(feature)))

    def spread_of(self, name: str) -> float | None:
        """The standard deviation in the start of an output; None if the output has no start, or one without scale."""
        decoder = self[module_key(name)]
        assert isinstance(decoder, Decoder)
        return None if decoder.start is None else decoder.start.spread

    @property
    def calibrated(self) -> list[str]:
        """The outputs with a temperature."""
        return [one.name for one in self._plan if one.decoder.temperature is not None]

    def set_temperatures(self, temperatures: Mapping[str, float]) -> None:
        for one in self._plan:
            if one.decoder.temperature is not None:
                one.decoder.temperature.fill_(temperatures[one.name])

    def forward(self, combined: torch.Tensor | Steps, targets: Mapping[str, Ragged] | None = None) -> Logits:
        """`targets`: those of the outputs that are sequences. Without them their decoders predict."""
        states: dict[str, Any] = {}
        logits: Logits = {}
        for one in self._plan:
            states[one.name] = one.decoder.hidden(one.decoder.source(combined, states))
            if one.steps is not None:
                own = None if targets is None else targets[one.name]
                logits[one.name] = one.steps(states[one.name], own)
                continue
            values = one.decoder.calibrated(one.decoder(states[one.name]))
            softmax = torch.softmax(values, 1) if one.ends_in_softmax else values
            logits[one.name] = values.squeeze(1) if one.is_single else softmax
        return {name: logits[name] for name in self._names} if len(logits) > 1 else logits


def _decoder(path: str, feature: OutputFeature, statistics: Mapping[str, Any], input_size: int) -> Decoder:
    agree(feature.input_size, input_size, f"{path}.input_size")
    width = width_of(feature, statistics)
    agree(feature.num_classes, width, f"{path}.num_classes")
    if isinstance(feature, VectorOutput):
        agree(feature.vector_size, width, f"{path}.vector_size")
    start = affine_output_of(feature, statistics)
    decoder = DECODERS[feature.decoder.type](feature.decoder, input_size, width, f"{path}.decoder", start)
    if isinstance(decoder, SequenceDecoder):
        decoder.length = statistics["length"]
    return decoder


def _ends_in_softmax(feature: OutputFeature) -> bool:
    """True if the decoder ends in a softmax, as in Ludwig's documentation. Softmax cross entropy takes logits, so the
    decoder then leaves the softmax out."""
    return isinstance(feature, VectorOutput) and feature.softmax and feature.loss.type != "softmax_cross_entropy"


def _in_order(features: Sequence[OutputFeature]) -> list[str]:
    """The names of the outputs, each after its dependencies. The contract checks that these exist and are acyclic."""
    return list(TopologicalSorter({feature.name: feature.dependencies for feature in features}).static_order())
