"""The combiner that compares two entities, each described by some of the inputs."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from trainwright_api.config.combiners.comparator import ComparatorCombiner
from trainwright_api.problems import Mistakes
from trainwright_trainer.combiners.base import Combined, Combiner, CombinerInput
from trainwright_trainer.layers.fully_connected import FullyConnected, linear, stack_of
from trainwright_trainer.layers.linear_products import side_by_side


class Comparator(Combiner):
    """[rows, w₁], … → [rows, 2 · width + 2], where `width` is that of a fully connected stack for each entity.

    The result is the dot product, the element-wise product, the absolute difference and a bilinear product. (In
    Ludwig's code the matrix of the bilinear product is not trained.)
    """

    joins = False

    def __init__(self, config: ComparatorCombiner, inputs: Sequence[CombinerInput], path: str) -> None:
        super().__init__()
        place = {one.name: at for at, one in enumerate(inputs)}
        self._entities = [[place[name] for name in entity or ()] for entity in (config.entity_1, config.entity_2)]
        widths = [sum(inputs[at].width for at in entity) for entity in self._entities]
        self.first, self.second = (FullyConnected(width, stack_of(config, path)) for width in widths)
        width = self.first.output_size
        if width != self.second.output_size:
            found = f"without layers the entities have {width} and {self.second.output_size} columns"
            raise Mistakes.one(f"{path}.num_fc_layers", f"{found}: they cannot be compared. Give at least 1.")
        self.bilinear = linear(width, width, use_bias=False)
        self.output_size = 2 * width + 2

    def forward(self, inputs: Sequence[torch.Tensor]) -> Combined:
        first, second = (
            stack(side_by_side([inputs[at] for at in entity]))
            for stack, entity in zip((self.first, self.second), self._entities, strict=True)
        )
        product = first * second
        bilinear = (self.bilinear(first) * second).sum(1, keepdim=True)
        parts = [product.sum(1, keepdim=True), product, (first - second).abs(), bilinear]
        return Combined(torch.cat(parts, 1))
