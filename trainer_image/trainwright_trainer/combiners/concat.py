"""The combiner that concatenates all inputs and applies a fully connected stack, if the config has one."""

from __future__ import annotations

from collections.abc import Sequence

from torch import nn

from trainwright_api.config.combiner_relations import ONE_VECTOR
from trainwright_api.config.combiners.concat import ConcatCombiner
from trainwright_api.problems import Mistakes
from trainwright_trainer.combiners.base import Combined, Combiner, CombinerInput
from trainwright_trainer.layers.fully_connected import FullyConnected, stack_of
from trainwright_trainer.layers.linear_products import Part
from trainwright_trainer.layers.reduce import Reduction
from trainwright_trainer.layers.steps import Steps


class Concat(Combiner):
    """[rows, w₁], [rows, w₂], … → [rows, output_size], in the order of the config's inputs.

    With `flatten_inputs` a sequence is one vector: its steps side by side, then zeros up to its largest length.
    """

    takes_sequences = True
    looks_up = True

    def __init__(self, config: ConcatCombiner, inputs: Sequence[CombinerInput], path: str) -> None:
        super().__init__()
        sequences = [at for at, one in enumerate(inputs) if one.length is not None]
        if sequences and not config.flatten_inputs:
            where = f"config.input_features[{sequences[0]}].encoder.reduce_output"
            raise Mistakes.one(where, ONE_VECTOR.format(word="concat"))
        self.flat = nn.ModuleList(
            Reduction("concat", one.length, one.width) for one in inputs if one.length is not None
        )
        width = sum(one.width * (one.length or 1) for one in inputs)
        self.stack = FullyConnected(width, stack_of(config, path), residual=bool(config.residual))
        self.output_size, self.units_of_parts = self.stack.output_size, self.stack.units_of_parts

    def forward(self, inputs: Sequence[Part | Steps]) -> Combined:
        flat = iter(self.flat)
        parts = [next(flat)(one.values, one.mask) if isinstance(one, Steps) else one for one in inputs]
        return Combined(self.stack.of_parts(parts))
