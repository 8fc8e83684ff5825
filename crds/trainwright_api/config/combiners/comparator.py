"""The combiner that compares two entities."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.combiners.base import Combiner
from trainwright_api.config.initializers import BiasInitializer, WeightsInitializer
from trainwright_api.config.layers import FcLayers, OptionalNormParams, stack_mistakes
from trainwright_api.schema.fields import Activation, Dropout, Name, Norm, NumFcLayers, OutputSize, UseBias
from trainwright_api.schema.section import relation

Entity = Annotated[list[Name] | None, Field(description="Names of the inputs that describe one of the two entities.")]


class ComparatorCombiner(Combiner):
    """Compares two groups of inputs by dot product, element-wise product, absolute difference and bilinear product."""

    type: Literal["comparator"] = Field("comparator", description="Compares two groups of inputs.")
    entity_1: Entity = None
    entity_2: Entity = None
    dropout: Dropout = 0.0
    activation: Activation = "relu"
    use_bias: UseBias = True
    bias_initializer: BiasInitializer = "zeros"
    weights_initializer: WeightsInitializer = "xavier_uniform"
    num_fc_layers: NumFcLayers = 1
    output_size: OutputSize = 256
    norm: Norm = None
    norm_params: OptionalNormParams = None
    fc_layers: FcLayers = None

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from stack_mistakes(self, "num_fc_layers")
        for key in ("entity_1", "entity_2"):
            if not getattr(self, key):
                yield relation("the comparator needs the names of at least one input here", key)
