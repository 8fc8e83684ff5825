"""The interface of engines. An engine owns the model and the optimizer of one rank, and combines the ranks' gradients.

A new strategy is one file with a class that implements `Engine`, and one line in the registry. An engine knows ranks
(collectives), but no backend, no file and no training loop. The loop divides the loss of a rank's slice by the rows of
the whole global batch, so an engine sums gradients without weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import torch

from trainwright_api.config.trainer import TrainerConfig
from trainwright_trainer.distributed.ranks import Ranks
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.models.trainable import Tensors, Trainable
from trainwright_trainer.rundir.blocks import Blocks, TensorSpec


@dataclass(frozen=True)
class EngineState:
    """The state of an engine without the model's weights.

    `tensors`: this rank's blocks, by `<key>.<parameter>`. `values`: plain JSON, the same on all ranks.
    """

    tensors: Blocks
    values: Mapping[str, Any]


class Engine(Protocol):
    """One rank's model and optimizer. All ranks must call the methods in the same order."""

    @property
    def model(self) -> Trainable:
        """The model for evaluation, without wrappers."""
        ...

    @property
    def ranks(self) -> Ranks: ...

    def warm_up(self, batch: Batch) -> None:
        """Called once before the first step. Changes no weight. `batch` has one row."""
        ...

    def forward(self, batch: Batch, *, last: bool) -> Tensors:
        """Logits of one pass of a step. `last` is True for the last pass of a step."""
        ...

    def penalty(self) -> torch.Tensor | None:
        """This rank's share of the penalty on the weights; None without a penalty. Added to the loss once a step."""
        ...

    def start_sum(self, own: torch.Tensor) -> Callable[[], torch.Tensor]:
        """Start the sum of [n] numbers over all ranks, before the last backward pass of a step.

        The returned function gives the sums. It is called after that pass, and before `update` or `discard`.
        """
        ...

    def accumulate(self, loss: torch.Tensor) -> None:
        """Add the gradients of `loss` to those of the step. After the last pass they are the sum over all ranks."""
        ...

    def update(self, rate: float) -> None:
        """Clip the gradients, change the weights, and clear the gradients."""
        ...

    def discard(self) -> None:
        """Clear the gradients without a change of the weights."""
        ...

    def weights(self) -> Blocks:
        """This rank's blocks of the model's tensors, by name. They are the memory of the engine, not copies."""
        ...

    def state(self) -> EngineState:
        """The rest of the state. The blocks are the memory of the engine too."""
        ...

    def allocate(self, specs: Mapping[str, TensorSpec], values: Mapping[str, Any]) -> None:
        """Replace the rest of the state. Afterwards `state` has blocks of all tensors of `specs`, with any content."""
        ...

    def refresh(self) -> None:
        """Called after values were copied into the blocks of `weights` and `state`."""
        ...

    def consolidate(self) -> bool:
        """Give the model that the engine was made with the trained weights. Called at most once, after the last step.

        Returns False if the whole model does not fit on the device of each rank. Then rank 0 has it on the CPU, and
        `model` still computes, on all ranks together.
        """
        ...

    def finish(self) -> None:
        """Called once at the end. The engine computes nothing afterwards."""
        ...


class EngineFactory(Protocol):
    """Makes the engine of a rank. `learning_rate` is replaced by the rate of each update."""

    def __call__(self, model: Trainable, trainer: TrainerConfig, learning_rate: float, ranks: Ranks) -> Engine: ...
