"""The optimizers of bitsandbytes, which keep their state in few bits or page it out of the GPU's memory."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.config.optimizers import (
    SGD,
    Adagrad,
    Adam,
    AdamW,
    Amsgrad,
    Eps,
    Momentum,
    Nesterov,
    Optimizer,
    RMSprop,
    WeightDecay,
)
from trainwright_api.schema.fields import Fraction
from trainwright_api.schema.unions import Betas

BlockWise = Annotated[bool, Field(description="Whether each block of the state has a scale of its own.")]
PercentileClipping = Annotated[
    int,
    Field(ge=0, le=100, description="Percentile of recent norms at which gradients are clipped; 100 for not."),
]
MaxUnorm = Annotated[Fraction, Field(description="Greatest norm of a step, relative to the weights.")]


class SGD8Bit(SGD):
    """SGD in 8 bits."""

    type: Literal["sgd_8bit"] = Field("sgd_8bit", description="SGD in 8 bits.")  # type: ignore[assignment]
    block_wise: BlockWise = False
    percentile_clipping: PercentileClipping = 100


class Adam8Bit(Adam):
    """Adam in 8 bits."""

    type: Literal["adam_8bit"] = Field("adam_8bit", description="Adam in 8 bits.")  # type: ignore[assignment]
    block_wise: BlockWise = True
    percentile_clipping: PercentileClipping = 100


class PagedAdam(Adam8Bit):
    """Adam, paged."""

    type: Literal["paged_adam"] = Field("paged_adam", description="Adam, paged.")  # type: ignore[assignment]


class PagedAdam8Bit(PagedAdam):
    """Adam in 8 bits, paged."""

    type: Literal["paged_adam_8bit"] = Field("paged_adam_8bit", description="Adam in 8 bits, paged.")  # type: ignore[assignment]


class AdamW8Bit(AdamW):
    """AdamW in 8 bits."""

    type: Literal["adamw_8bit"] = Field("adamw_8bit", description="AdamW in 8 bits.")  # type: ignore[assignment]
    block_wise: BlockWise = True
    percentile_clipping: PercentileClipping = 100


class PagedAdamW(AdamW8Bit):
    """AdamW, paged."""

    type: Literal["paged_adamw"] = Field("paged_adamw", description="AdamW, paged.")  # type: ignore[assignment]


class PagedAdamW8Bit(PagedAdamW):
    """AdamW in 8 bits, paged."""

    type: Literal["paged_adamw_8bit"] = Field("paged_adamw_8bit", description="AdamW in 8 bits, paged.")  # type: ignore[assignment]


class Adagrad8Bit(Adagrad):
    """Adagrad in 8 bits."""

    type: Literal["adagrad_8bit"] = Field("adagrad_8bit", description="Adagrad in 8 bits.")  # type: ignore[assignment]
    block_wise: BlockWise = True
    percentile_clipping: PercentileClipping = 100


class RMSprop8Bit(RMSprop):
    """RMSprop in 8 bits."""

    type: Literal["rmsprop_8bit"] = Field("rmsprop_8bit", description="RMSprop in 8 bits.")  # type: ignore[assignment]
    block_wise: BlockWise = True
    percentile_clipping: PercentileClipping = 100


class LAMB(Optimizer):
    """Adam with a step for each layer, for large batches."""

    type: Literal["lamb"] = Field("lamb", description="Adam with a step for each layer, for large batches.")
    bias_correction: bool = Field(True, description="Whether the averages are corrected for their start at 0.")
    betas: Betas = (0.9, 0.999)
    eps: Eps = 1e-08
    weight_decay: WeightDecay = 0.0
    amsgrad: Amsgrad = False
    adam_w_mode: bool = Field(True, description="Whether weight decay stays out of the gradient.")
    percentile_clipping: PercentileClipping = 100
    block_wise: BlockWise = False
    max_unorm: MaxUnorm = 1.0


class LAMB8Bit(LAMB):
    """LAMB in 8 bits."""

    type: Literal["lamb_8bit"] = Field("lamb_8bit", description="LAMB in 8 bits.")  # type: ignore[assignment]


class LARS(Optimizer):
    """SGD with a step for each layer, for large batches."""

    type: Literal["lars"] = Field("lars", description="SGD with a step for each layer, for large batches.")
    momentum: Annotated[Momentum, Field(gt=0, le=1)] = 0.9
    dampening: Fraction = Field(0.0, description="Share by which momentum damps the new gradient.")
    weight_decay: WeightDecay = 0.0
    nesterov: Nesterov = False
    percentile_clipping: PercentileClipping = 100
    max_unorm: MaxUnorm = 1.0


class LARS8Bit(LARS):
    """LARS in 8 bits."""

    type: Literal["lars_8bit"] = Field("lars_8bit", description="LARS in 8 bits.")  # type: ignore[assignment]


class Lion(Optimizer):
    """Steps by the sign of an average."""

    type: Literal["lion"] = Field("lion", description="Steps by the sign of an average.")
    betas: Betas = (0.9, 0.999)
    weight_decay: WeightDecay = 0.0
    percentile_clipping: PercentileClipping = 100
    block_wise: BlockWise = True


class Lion8Bit(Lion):
    """Lion in 8 bits."""

    type: Literal["lion_8bit"] = Field("lion_8bit", description="Lion in 8 bits.")  # type: ignore[assignment]


class PagedLion(Lion):
    """Lion, paged."""

    type: Literal["paged_lion"] = Field("paged_lion", description="Lion, paged.")  # type: ignore[assignment]


class PagedLion8Bit(PagedLion):
    """Lion in 8 bits, paged."""

    type: Literal["paged_lion_8bit"] = Field("paged_lion_8bit", description="Lion in 8 bits, paged.")  # type: ignore[assignment]
