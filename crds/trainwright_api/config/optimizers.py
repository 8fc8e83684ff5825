"""The optimizers, with the names and defaults of torch.optim, as in Ludwig."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.schema.choice import Chosen
from trainwright_api.schema.fields import Fraction, NonNegativeFloat, PositiveInt
from trainwright_api.schema.section import relation
from trainwright_api.schema.unions import Betas

WeightDecay = Annotated[NonNegativeFloat, Field(description="Coefficient of the L2 penalty (weight decay).")]
Eps = Annotated[NonNegativeFloat, Field(description="Epsilon, added to denominators for numerical stability.")]
Momentum = Annotated[NonNegativeFloat, Field(description="Momentum factor.")]
Amsgrad = Annotated[bool, Field(description="Use AMSGrad: the average of squared gradients never decreases.")]
Nesterov = Annotated[bool, Field(description="Use Nesterov momentum.")]
Dampening = Annotated[NonNegativeFloat, Field(description="Dampening of the momentum.")]


class Optimizer(Chosen):
    """The optimizer. `type` selects it."""


class SGD(Optimizer):
    """Stochastic gradient descent."""

    type: Literal["sgd"] = Field("sgd", description="Stochastic gradient descent.")
    momentum: Momentum = 0.0
    weight_decay: WeightDecay = 0.0
    dampening: Dampening = 0.0
    nesterov: Nesterov = False

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.nesterov and (self.momentum == 0 or self.dampening != 0):
            yield relation("nesterov needs a momentum above 0 and no dampening", "nesterov", found=True)


class LBFGS(Optimizer):
    """L-BFGS: a quasi-Newton method with limited memory."""

    type: Literal["lbfgs"] = Field("lbfgs", description="L-BFGS: a quasi-Newton method with limited memory.")
    max_iter: PositiveInt = Field(20, description="Maximum number of iterations in one step.")
    max_eval: PositiveInt | None = Field(
        None, description="Maximum number of function evaluations in one step. null: 1.25 × max_iter."
    )
    tolerance_grad: NonNegativeFloat = Field(1e-07, description="Gradient tolerance: a step ends below it.")
    tolerance_change: NonNegativeFloat = Field(1e-09, description="Change tolerance: a step ends below it.")
    history_size: PositiveInt = Field(100, description="Size of the update history.")
    line_search_fn: Literal["strong_wolfe"] | None = Field(None, description="Line search method. null: none.")


class Adam(Optimizer):
    """Adam."""

    type: Literal["adam"] = Field("adam", description="Adam.")
    betas: Betas = (0.9, 0.999)
    eps: Eps = 1e-08
    weight_decay: WeightDecay = 0.0
    amsgrad: Amsgrad = False


class AdamW(Optimizer):
    """AdamW: Adam with decoupled weight decay."""

    type: Literal["adamw"] = Field("adamw", description="AdamW: Adam with decoupled weight decay.")
    betas: Betas = (0.9, 0.999)
    eps: Eps = 1e-08
    weight_decay: WeightDecay = 0.0
    amsgrad: Amsgrad = False


class Adadelta(Optimizer):
    """Adadelta."""

    type: Literal["adadelta"] = Field("adadelta", description="Adadelta.")
    rho: Fraction = Field(0.9, description="Decay rate of the average of squared gradients.")
    eps: Eps = 1e-06
    weight_decay: WeightDecay = 0.0


class Adagrad(Optimizer):
    """Adagrad."""

    type: Literal["adagrad"] = Field("adagrad", description="Adagrad.")
    initial_accumulator_value: NonNegativeFloat = Field(
        0.0, description="Initial value of the accumulator of squared gradients."
    )
    lr_decay: NonNegativeFloat = Field(0.0, description="Decay of the learning rate.")
    weight_decay: WeightDecay = 0.0
    eps: Eps = 1e-10


class Adamax(Optimizer):
    """Adamax: Adam with the infinity norm."""

    type: Literal["adamax"] = Field("adamax", description="Adamax: Adam with the infinity norm.")
    betas: Betas = (0.9, 0.999)
    eps: Eps = 1e-08
    weight_decay: WeightDecay = 0.0


class NAdam(Optimizer):
    """NAdam: Adam with Nesterov momentum."""

    type: Literal["nadam"] = Field("nadam", description="NAdam: Adam with Nesterov momentum.")
    betas: Betas = (0.9, 0.999)
    eps: Eps = 1e-08
    weight_decay: WeightDecay = 0.0
    momentum_decay: NonNegativeFloat = Field(0.004, description="Decay rate of the momentum.")


class RMSprop(Optimizer):
    """RMSprop."""

    type: Literal["rmsprop"] = Field("rmsprop", description="RMSprop.")
    momentum: Momentum = 0.0
    alpha: Fraction = Field(0.99, description="Decay rate of the average of squared gradients.")
    eps: Eps = 1e-08
    centered: bool = Field(False, description="Normalize by an estimate of the gradient's variance (centered RMSprop).")
    weight_decay: WeightDecay = 0.0


class Ftrl(Optimizer):
    """FTRL: follow the regularized leader."""

    type: Literal["ftrl"] = Field("ftrl", description="FTRL: follow the regularized leader.")
    learning_rate_power: Annotated[float, Field(le=0)] = Field(-0.5, description="Exponent of the learning rate decay.")
    initial_accumulator_value: NonNegativeFloat = Field(
        0.1, description="Initial value of the accumulator of squared gradients."
    )
    l1_regularization_strength: NonNegativeFloat = Field(0.0, description="Coefficient of the L1 penalty.")
    l2_regularization_strength: NonNegativeFloat = Field(0.0, description="Coefficient of the L2 penalty.")


_PLAIN = {
    "sgd": "optimizers.SGD",
    "lbfgs": "optimizers.LBFGS",
    "adam": "optimizers.Adam",
    "adamw": "optimizers.AdamW",
    "adadelta": "optimizers.Adadelta",
    "adagrad": "optimizers.Adagrad",
    "adamax": "optimizers.Adamax",
    "nadam": "optimizers.NAdam",
    "rmsprop": "optimizers.RMSprop",
    "ftrl": "optimizers.Ftrl",
}
_BITSANDBYTES = {
    "sgd_8bit": "optimizers_bitsandbytes.SGD8Bit",
    "adam_8bit": "optimizers_bitsandbytes.Adam8Bit",
    "paged_adam": "optimizers_bitsandbytes.PagedAdam",
    "paged_adam_8bit": "optimizers_bitsandbytes.PagedAdam8Bit",
    "adamw_8bit": "optimizers_bitsandbytes.AdamW8Bit",
    "paged_adamw": "optimizers_bitsandbytes.PagedAdamW",
    "paged_adamw_8bit": "optimizers_bitsandbytes.PagedAdamW8Bit",
    "adagrad_8bit": "optimizers_bitsandbytes.Adagrad8Bit",
    "rmsprop_8bit": "optimizers_bitsandbytes.RMSprop8Bit",
    "lamb": "optimizers_bitsandbytes.LAMB",
    "lamb_8bit": "optimizers_bitsandbytes.LAMB8Bit",
    "lars": "optimizers_bitsandbytes.LARS",
    "lars_8bit": "optimizers_bitsandbytes.LARS8Bit",
    "lion": "optimizers_bitsandbytes.Lion",
    "lion_8bit": "optimizers_bitsandbytes.Lion8Bit",
    "paged_lion": "optimizers_bitsandbytes.PagedLion",
    "paged_lion_8bit": "optimizers_bitsandbytes.PagedLion8Bit",
}
OPTIMIZERS = {**_PLAIN, **_BITSANDBYTES}
"""Optimizer word → its section."""
