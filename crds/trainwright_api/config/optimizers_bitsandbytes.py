"""The optimizers of bitsandbytes, with 8-bit state or state paged out of the GPU's memory."""

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

BlockWise = Annotated[bool, Field(description="Quantize each block of the optimizer state separately.")]
PercentileClipping = Annotated[
    int,
    Field(
        ge=0, le=100, description="Clip gradients at this percentile of the recent gradient norms. 100: no clipping."
    ),
]
MaxUnorm = Annotated[Fraction, Field(description="Maximum norm of an update, relative to the weights.")]


class SGD8Bit(SGD):
    """SGD with 8-bit state."""

    type: Literal["sgd_8bit"] = Field("sgd_8bit", description="SGD with 8-bit state.")  # type: ignore[assignment]
    block_wise: BlockWise = False
    percentile_clipping: PercentileClipping = 100


class Adam8Bit(Adam):
    """Adam with 8-bit state."""

    type: Literal["adam_8bit"] = Field("adam_8bit", description="Adam with 8-bit state.")  # type: ignore[assignment]
    block_wise: BlockWise = True
    percentile_clipping: PercentileClipping = 100


class PagedAdam(Adam8Bit):
    """Adam with paged state."""

    type: Literal["paged_adam"] = Field("paged_adam", description="Adam with paged state.")  # type: ignore[assignment]


class PagedAdam8Bit(PagedAdam):
    """Adam with paged 8-bit state."""

    type: Literal["paged_adam_8bit"] = Field("paged_adam_8bit", description="Adam with paged 8-bit state.")  # type: ignore[assignment]


class AdamW8Bit(AdamW):
    """AdamW with 8-bit state."""

    type: Literal["adamw_8bit"] = Field("adamw_8bit", description="AdamW with 8-bit state.")  # type: ignore[assignment]
    block_wise: BlockWise = True
    percentile_clipping: PercentileClipping = 100


class PagedAdamW(AdamW8Bit):
    """AdamW with paged state."""

    type: Literal["paged_adamw"] = Field("paged_adamw", description="AdamW with paged state.")  # type: ignore[assignment]


class PagedAdamW8Bit(PagedAdamW):
    """AdamW with paged 8-bit state."""

    type: Literal["paged_adamw_8bit"] = Field("paged_adamw_8bit", description="AdamW with paged 8-bit state.")  # type: ignore[assignment]


class Adagrad8Bit(Adagrad):
    """Adagrad with 8-bit state."""

    type: Literal["adagrad_8bit"] = Field("adagrad_8bit", description="Adagrad with 8-bit state.")  # type: ignore[assignment]
    block_wise: BlockWise = True
    percentile_clipping: PercentileClipping = 100


class RMSprop8Bit(RMSprop):
    """RMSprop with 8-bit state."""

    type: Literal["rmsprop_8bit"] = Field("rmsprop_8bit", description="RMSprop with 8-bit state.")  # type: ignore[assignment]
    block_wise: BlockWise = True
    percentile_clipping: PercentileClipping = 100


class LAMB(Optimizer):
    """LAMB: Adam with layer-wise learning rates for large batches."""

    type: Literal["lamb"] = Field("lamb", description="LAMB: Adam with layer-wise learning rates for large batches.")
    bias_correction: bool = Field(True, description="Use bias correction.")
    betas: Betas = (0.9, 0.999)
    eps: Eps = 1e-08
    weight_decay: WeightDecay = 0.0
    amsgrad: Amsgrad = False
    adam_w_mode: bool = Field(True, description="Use decoupled weight decay.")
    percentile_clipping: PercentileClipping = 100
    block_wise: BlockWise = False
    max_unorm: MaxUnorm = 1.0


class LAMB8Bit(LAMB):
    """LAMB with 8-bit state."""

    type: Literal["lamb_8bit"] = Field("lamb_8bit", description="LAMB with 8-bit state.")  # type: ignore[assignment]


class LARS(Optimizer):
    """LARS: SGD with layer-wise learning rates for large batches."""

    type: Literal["lars"] = Field("lars", description="LARS: SGD with layer-wise learning rates for large batches.")
    momentum: Annotated[Momentum, Field(gt=0, le=1)] = 0.9
    dampening: Fraction = Field(0.0, description="Dampening of the momentum.")
    weight_decay: WeightDecay = 0.0
    nesterov: Nesterov = False
    percentile_clipping: PercentileClipping = 100
    max_unorm: MaxUnorm = 1.0


class LARS8Bit(LARS):
    """LARS with 8-bit state."""

    type: Literal["lars_8bit"] = Field("lars_8bit", description="LARS with 8-bit state.")  # type: ignore[assignment]


class Lion(Optimizer):
    """Lion: updates by the sign of the momentum."""

    type: Literal["lion"] = Field("lion", description="Lion: updates by the sign of the momentum.")
    betas: Betas = (0.9, 0.999)
    weight_decay: WeightDecay = 0.0
    percentile_clipping: PercentileClipping = 100
    block_wise: BlockWise = True


class Lion8Bit(Lion):
    """Lion with 8-bit state."""

    type: Literal["lion_8bit"] = Field("lion_8bit", description="Lion with 8-bit state.")  # type: ignore[assignment]


class PagedLion(Lion):
    """Lion with paged state."""

    type: Literal["paged_lion"] = Field("paged_lion", description="Lion with paged state.")  # type: ignore[assignment]


class PagedLion8Bit(PagedLion):
    """Lion with paged 8-bit state."""

    type: Literal["paged_lion_8bit"] = Field("paged_lion_8bit", description="Lion with paged 8-bit state.")  # type: ignore[assignment]
