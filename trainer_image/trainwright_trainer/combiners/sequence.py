"""The combiners of sequences: `sequence_concat` puts the inputs side by side at each step, and `sequence` encodes the
result."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from trainwright_api.config.combiner_relations import NO_SEQUENCE
from trainwright_api.config.combiners.sequence import SequenceCombiner, SequenceConcatCombiner
from trainwright_api.problems import Mistakes
from trainwright_trainer.combiners.base import Combined, Combiner, CombinerInput
from trainwright_trainer.encoders.base import EncoderInput
from trainwright_trainer.encoders.sequence_types import SEQUENCE_TYPES
from trainwright_trainer.layers.reduce import Reduction
from trainwright_trainer.layers.steps import Steps


class _Alignment:
    """Puts sequences and vectors side by side at each step; a vector is repeated for each step.

    A row has as many steps as its sequence of the input `main`; if that is None, as its longest sequence. A sequence
    that is shorter has zeros in the other steps.
    """

    def __init__(self, main: str | None, inputs: Sequence[CombinerInput], path: str) -> None:
        lengths = {one.name: one.length for one in inputs if one.length is not None}
        if not lengths:
            raise Mistakes.one(path, NO_SEQUENCE)
        if main is not None and main not in lengths:
            found = f"{main!r} is one vector a row: set reduce_output to null in its encoder"
            raise Mistakes.one(f"{path}.main_sequence_feature", found)
        self._main = None if main is None else [one.name for one in inputs].index(main)
        self.output_size = sum(one.width for one in inputs)
        self.length = max(lengths.values()) if main is None else lengths[main]

    def __call__(self, inputs: Sequence[torch.Tensor | Steps]) -> Steps:
        sequences = [one for one in (inputs if self._main is None else [inputs[self._main]]) if isinstance(one, Steps)]
        lengths = torch.stack([one.lengths for one in sequences]).amax(0)
        length = max(one.values.shape[1] for one in sequences)
        parts = [
            one.of_length(length).values if isinstance(one, Steps) else one.unsqueeze(1).expand(-1, length, -1)
            for one in inputs
        ]
        values = torch.cat(parts, 2)
        return Steps(values, lengths).with_values(values)


class SequenceConcat(Combiner):
    """[rows, w₁] and `Steps` of w₂, … → [rows, length, w₁ + w₂ + …]; with `reduce_output` → [rows, output_size]."""

    joins = False
    takes_sequences = True

    def __init__(self, config: SequenceConcatCombiner, inputs: Sequence[CombinerInput], path: str) -> None:
        super().__init__()
        self._aligned = _Alignment(config.main_sequence_feature, inputs, path)
        length, width, word = self._aligned.length, self._aligned.output_size, config.reduce_output
        self.reduction = None if word is None else Reduction(word, length, width)
        self.output_size = width if self.reduction is None else self.reduction.output_size
        self.output_length = length if self.reduction is None else None

    def forward(self, inputs: Sequence[torch.Tensor | Steps]) -> Combined:
        steps = self._aligned(inputs)
        if self.reduction is None:
            return Combined(steps.values, lengths=steps.lengths)
        return Combined(self.reduction(steps.values, steps.mask))


class SequenceEncoded(Combiner):
    """The steps of `SequenceConcat` → the encoder of the config, which reduces them as the combiner says, else as its
    own section says."""

    joins = False
    takes_sequences = True

    def __init__(self, config: SequenceCombiner, inputs: Sequence[CombinerInput], path: str) -> None:
        super().__init__()
        self._aligned = _Alignment(config.main_sequence_feature, inputs, path)
        section = config.encoder
        if config.reduce_output is not None:
            section = section.model_copy(update={"reduce_output": config.reduce_output})
        statistics = {"length": self._aligned.length, "padding": "right"}
        feature = EncoderInput(statistics, 1, f"{path}.encoder", self._aligned.output_size)
        self.encoder = SEQUENCE_TYPES[section.type](section, feature)
        self.output_size, self.output_length = self.encoder.output_size, self.encoder.output_length

    def forward(self, inputs: Sequence[torch.Tensor | Steps]) -> Combined:
        found = self.encoder(self._aligned(inputs))
        return Combined(found.values, lengths=found.lengths) if isinstance(found, Steps) else Combined(found)
