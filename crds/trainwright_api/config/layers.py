"""Stacks of fully connected layers, and the parameters of their normalization."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.initializers import BiasInitializer, WeightsInitializer
from trainwright_api.schema.fields import (
    Activation,
    Dropout,
    Fraction,
    Norm,
    OutputSize,
    PositiveFloat,
    UseBias,
    nullable,
)
from trainwright_api.schema.section import Section, relation

_PARAMS_OF_NORM = {
    "batch": ("eps", "momentum", "affine", "track_running_stats"),
    "layer": ("eps", "elementwise_affine"),
    "ghost": ("epsilon", "momentum", "virtual_batch_size"),
}


class NormParams(Section):
    """Parameters of a normalization layer. null: the default of the layer."""

    eps: PositiveFloat | None = Field(None, description="Epsilon of batch norm and layer norm. Default: 1e-5.")
    epsilon: PositiveFloat | None = Field(None, description="Epsilon of ghost norm. Default: 1e-3.")
    momentum: Fraction | None = Field(
        None,
        description="Weight of the newest batch in the running statistics. Default: 0.1 for batch norm, 0.05 "
        "for ghost norm.",
    )
    affine: bool | None = Field(None, description="Batch norm learns a scale and a shift. Default: true.")
    elementwise_affine: bool | None = Field(None, description="Layer norm learns a scale and a shift. Default: true.")
    track_running_stats: bool | None = Field(None, description="Batch norm keeps running statistics. Default: true.")
    virtual_batch_size: Annotated[int, Field(ge=2)] | None = Field(
        None, description="Rows of one virtual batch of ghost norm. Default: 128, at most batch_size."
    )

    def arguments(self) -> dict[str, Any]:
        """Return the given values by name."""
        return self.model_dump(exclude_none=True)


OptionalNormParams = Annotated[NormParams | None, Field(description="Parameters of the normalization.")]


class FullyConnectedLayer(Section):
    """One layer of a stack. A missing field takes the stack's value."""

    output_size: OutputSize | None = nullable(OutputSize)
    activation: Activation = None
    dropout: Dropout | None = nullable(Dropout)
    use_bias: UseBias | None = nullable(UseBias)
    weights_initializer: WeightsInitializer | None = nullable(WeightsInitializer)
    bias_initializer: BiasInitializer | None = nullable(BiasInitializer)
    norm: Norm = None
    norm_params: OptionalNormParams = None

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if "norm" in self.model_fields_set:
            yield from norm_mistakes(self.norm, self.norm_params, "norm_params")


FcLayers = Annotated[
    list[FullyConnectedLayer] | None,
    Field(description="A list of fully connected layers. It replaces their number."),
]


def norm_mistakes(norm: str | None, params: NormParams | None, key: str) -> Iterator[InitErrorDetails]:
    """Yield the parameters that the normalization does not have."""
    given = params.arguments() if params else {}
    if norm is None:
        if given:
            yield relation("there is no norm whose parameters these could be", key, found=given)
        return
    for name in given:
        if name not in _PARAMS_OF_NORM[norm]:
            known = ", ".join(_PARAMS_OF_NORM[norm])
            yield relation(f"norm {norm} has no {name}; it has {known}", key, name, found=given[name])


def stack_mistakes(section: Section, count: str, prefix: str = "") -> Iterator[InitErrorDetails]:
    """Yield contradictions between the fields of a stack: number and list of layers, and norm. `count` is the field
    with the number of layers. `prefix` is the prefix of the stack's fields (decoders: fc_).
    """
    layers = getattr(section, "fc_layers", None)
    number = getattr(section, count, None)
    given = count in section.model_fields_set and number != type(section).model_fields[count].default
    if layers is not None and given and number != len(layers):
        yield relation(
            f"{count} is {number}, but fc_layers lists {len(layers)}; give one of the two", count, found=number
        )
    norm, params = getattr(section, f"{prefix}norm", None), getattr(section, f"{prefix}norm_params", None)
    yield from norm_mistakes(norm, params, f"{prefix}norm_params")
