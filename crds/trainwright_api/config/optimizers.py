"""What turns gradients into steps; the names and defaults are those of torch.optim, as Ludwig has them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.schema.choice import Chosen
from trainwright_api.schema.fields import Fraction, NonNegativeFloat, PositiveInt
from trainwright_api.schema.section import relation
from trainwright_api.schema.unions import Betas

WeightDecay = Annotated[NonNegativeFloat, Field(description="Factor of the L2 penalty on the weights.")]
Eps = Annotated[NonNegativeFloat, Field(description="Added to denominators, for numerical stability.")]
Momentum = Annotated[NonNegativeFloat, Field(description="Share of the last step that the next one keeps.")]
Amsgrad = Annotated[bool, Field(description="Whether the running average of the square may only grow (AMSGrad).")]
Nesterov = Annotated[bool, Field(description="Whether momentum looks ahead (Nesterov).")]
Dampening = Annotated[NonNegativeFloat, Field(description="Share by which momentum damps the new gradient.")]


class Optimizer(Chosen):
    """An optimizer; `type` names it."""


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
    """A quasi-Newton method with limited memory."""

    type: Literal["lbfgs"] = Field("lbfgs", description="A quasi-Newton method with limited memory.")
    max_iter: PositiveInt = Field(20, description="Most iterations in one step.")
    max_eval: PositiveInt | None = Field(None, description="Most evaluations in one step; null for 1.25 × max_iter.")
    tolerance_grad: NonNegativeFloat = Field(1e-07, description="Gradient below which a step ends.")
    tolerance_change: NonNegativeFloat = Field(1e-09, description="Change below which a step ends.")
    history_size: PositiveInt = Field(100, description="Number of updates that are remembered.")
    line_search_fn: Literal["strong_wolfe"] | None = Field(None, description="Line search; null for none.")


class Adam(Optimizer):
    """Steps scaled by running averages of the gradient and its square."""

    type: Literal["adam"] = Field("adam", description="Adam.")
    betas: Betas = (0.9, 0.999)
    eps: Eps = 1e-08
    weight_decay: WeightDecay = 0.0
    amsgrad: Amsgrad = False


class AdamW(Optimizer):
    """Adam whose weight decay does not pass through the gradient."""

    type: Literal["adamw"] = Field("adamw", description="Adam with decoupled weight decay.")
    betas: Betas = (0.9, 0.999)
    eps: Eps = 1e-08
    weight_decay: WeightDecay = 0.0
    amsgrad: Amsgrad = False


class Adadelta(Optimizer):
    """Steps scaled by recent gradients and recent steps."""

    type: Literal["adadelta"] = Field("adadelta", description="Adadelta.")
    rho: Fraction = Field(0.9, description="Decay of the running average of the squared gradient.")
    eps: Eps = 1e-06
    weight_decay: WeightDecay = 0.0


class Adagrad(Optimizer):
    """Steps that shrink with the sum of all squared gradients."""

    type: Literal["adagrad"] = Field("adagrad", description="Adagrad.")
    initial_accumulator_value: NonNegativeFloat = Field(0.0, description="Where the sum of squares begins.")
    lr_decay: NonNegativeFloat = Field(0.0, description="Decay of the learning rate with each step.")
    weight_decay: WeightDecay = 0.0
    eps: Eps = 1e-10


class Adamax(Optimizer):
    """Adam with the largest gradient in place of the mean square."""

    type: Literal["adamax"] = Field("adamax", description="Adam by the infinity norm.")
    betas: Betas = (0.9, 0.999)
    eps: Eps = 1e-08
    weight_decay: WeightDecay = 0.0


class NAdam(Optimizer):
    """Adam with Nesterov's momentum."""

    type: Literal["nadam"] = Field("nadam", description="Adam with Nesterov's momentum.")
    betas: Betas = (0.9, 0.999)
    eps: Eps = 1e-08
    weight_decay: WeightDecay = 0.0
    momentum_decay: NonNegativeFloat = Field(0.004, description="Decay of the momentum.")


class RMSprop(Optimizer):
    """Steps scaled by a running average of the squared gradient."""

    type: Literal["rmsprop"] = Field("rmsprop", description="RMSprop.")
    momentum: Momentum = 0.0
    alpha: Fraction = Field(0.99, description="Decay of the running average of the squared gradient.")
    eps: Eps = 1e-08
    centered: bool = Field(False, description="Whether the gradient's variance takes the place of its mean square.")
    weight_decay: WeightDecay = 0.0


class Ftrl(Optimizer):
    """Follow the regularised leader."""

    type: Literal["ftrl"] = Field("ftrl", description="Follow the regularised leader.")
    learning_rate_power: Annotated[float, Field(le=0)] = Field(-0.5, description="Power of the learning rate's decay.")
    initial_accumulator_value: NonNegativeFloat = Field(0.1, description="Where the sum of squares begins.")
    l1_regularization_strength: NonNegativeFloat = Field(0.0, description="Factor of the L1 penalty.")
    l2_regularization_strength: NonNegativeFloat = Field(0.0, description="Factor of the L2 penalty.")


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
    "sgd_8bit": "optimizers_8bit.SGD8Bit",
    "adam_8bit": "optimizers_8bit.Adam8Bit",
    "paged_adam": "optimizers_8bit.PagedAdam",
    "paged_adam_8bit": "optimizers_8bit.PagedAdam8Bit",
    "adamw_8bit": "optimizers_8bit.AdamW8Bit",
    "paged_adamw": "optimizers_8bit.PagedAdamW",
    "paged_adamw_8bit": "optimizers_8bit.PagedAdamW8Bit",
    "adagrad_8bit": "optimizers_8bit.Adagrad8Bit",
    "rmsprop_8bit": "optimizers_8bit.RMSprop8Bit",
    "lamb": "optimizers_8bit.LAMB",
    "lamb_8bit": "optimizers_8bit.LAMB8Bit",
    "lars": "optimizers_8bit.LARS",
    "lars_8bit": "optimizers_8bit.LARS8Bit",
    "lion": "optimizers_8bit.Lion",
    "lion_8bit": "optimizers_8bit.Lion8Bit",
    "paged_lion": "optimizers_8bit.PagedLion",
    "paged_lion_8bit": "optimizers_8bit.PagedLion8Bit",
}
OPTIMIZERS = {**_PLAIN, **_BITSANDBYTES}
"""Optimizer word → its section."""
