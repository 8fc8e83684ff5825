"""Several processes that share one model: torch's FSDP2.

Each rank keeps a shard of every parameter, of its gradient and of the optimizer's state.

The optimizer works on the local shards. A shard is a slice of the first dimension, as `torch.chunk` cuts it, so it can
be empty.
"""

from __future__ import annotations

import math
import warnings
from copy import deepcopy
from dataclasses import replace
from itertools import chain
from typing import Any, cast

import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import CPUOffloadPolicy, FSDPModule, MixedPrecisionPolicy, OffloadPolicy, fully_shard
from torch.distributed.tensor import DTensor

from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.resource.strategy import OffloadPolicy as Offload
from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.distributed.process_group import raising_peer_lost
from trainwright_trainer.distributed.ranks import Ranks
from trainwright_trainer.layers.batch_norm import BatchNorm, share_batch_norm
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.models.model import DTYPES
from trainwright_trainer.models.penalty import penalty
from trainwright_trainer.models.trainable import Tensors, Trainable
from trainwright_trainer.rundir.blocks import Block, copy_common, whole
from trainwright_trainer.strategies.consolidate import consolidate
from trainwright_trainer.strategies.fsdp_sums import RunningSums, can_run_beside_backward, sum_gradients
from trainwright_trainer.strategies.interface import EngineState
from trainwright_trainer.strategies.precision import Forward
from trainwright_trainer.strategies.torch_engine import TorchEngine


class Fsdp(TorchEngine):
    """Works on a copy of the model. The given model stays on the meta device until `consolidate`."""

    is_sharded = True

    def __init__(
        self, section: Strategy, model: Trainable, trainer: TrainerConfig, learning_rate: float, ranks: Ranks
    ) -> None:
        self._options = _options(section, ranks.device)
        self._shard_device = torch.device("cpu") if _offload(section) else ranks.device
        self._dtype = DTYPES[trainer.precision]
        policy: MixedPrecisionPolicy = self._options["mp_policy"]
        self._sums = RunningSums() if can_run_beside_backward(policy, self._dtype, ranks.device) else None
        self._whole = model
        self._shapes = {name: one.shape for name, one in model.named_parameters()}
        super().__init__(deepcopy(model), trainer, learning_rate, ranks)
        if self._scaler is not None:
            self._scaler = _ScalerOfShards(ranks)

    def _materialise(self) -> None:
        """Shards get their values in `_wrapped`."""

    def _compiled(self) -> Forward:
        """Each block on its own, because the gathering of parameters between blocks cannot be compiled."""
        for block in self.model.blocks():
            block.compile()
        return self.model

    def _wrapped(self, model: Forward) -> Forward:
        module = cast(nn.Module, self.model)
        options = {"mesh": init_device_mesh(self.ranks.device.type, (self.ranks.world,)), **self._options}
        policy: MixedPrecisionPolicy = options["mp_policy"]
        share_batch_norm(module, self.ranks)
        # Logits can be views. Nothing changes them in place, and the warning would come with every pass.
        warnings.filterwarnings("ignore", message="FSDP2-wrapped module .* returned a view tensor")
        with raising_peer_lost():
            for norm in (one for one in module.modules() if isinstance(one, BatchNorm)) if policy.param_dtype else ():
                fully_shard(norm, **{**options, "mp_policy": MixedPrecisionPolicy()})  # its moments need float32
            for block in self.model.blocks():
                fully_shard(block, **options)
            fully_shard(module, **options)
        for sharded in (one for one in module.modules() if isinstance(one, FSDPModule)):
            sum_gradients(sharded, self._sums)
        self._fill(module)
        if policy.param_dtype is not None:
            _cast(module, policy.param_dtype, self._dtype)
        return model

    def _fill(self, module: nn.Module) -> None:
        """Give the shards their memory and their initial values, from one whole tensor at a time."""
        module.to_empty(device=self._shard_device)
        given = cast(nn.Module, self._whole)
        own = dict(module.named_parameters())
        constants = ((name, one.detach()) for name, one in given.named_parameters() if not one.is_meta)
        for name, values in chain(self._whole.initial_weights(), constants):
            copy_common(self._block(name, own[name]), Block(values, tuple(values.shape)))
        for name, buffer in given.named_buffers():
            module.get_buffer(name).data = buffer.to(self.ranks.device, copy=True)

    def _trained(self) -> dict[str, nn.Parameter]:
        """The local shards. FSDP reads the same memory, so it sees each update."""
        return {name: nn.Parameter(_local(one)) for name, one in super()._trained().items()}

    def forward(self, batch: Batch, *, last: bool) -> Tensors:
        cast(FSDPModule, self.model).set_requires_gradient_sync(last)
        with raising_peer_lost():
            return super().forward(batch, last=last)

    def penalty(self) -> torch.Tensor | None:
        """Only the value: `_add_penalty` adds the gradient, because a shard has no part in the forward pass."""
        own = self._penalty_of_shards()
        return None if own is None else own.detach()

    def _penalty_of_shards(self) -> torch.Tensor | None:
        return None if self._penalty is None else penalty(self._parameters, self._penalty, self._factor)

    def _backward(self, loss: torch.Tensor) -> None:
        with raising_peer_lost():
            super()._backward(loss)
            if self._sums is not None:
                self._sums.finish()

    def update(self, rate: float) -> None:
        for name, parameter in self.model.named_parameters():
            if parameter.requires_grad and parameter.grad is not None:
                self._parameters[name].grad = _local(parameter.grad)
        super().update(rate)

    def _add_penalty(self) -> None:
        own = self._penalty_of_shards()
        if own is not None:
            own.backward()  # type: ignore[no-untyped-call]

    def _norms(self, gradients: list[torch.Tensor]) -> torch.Tensor:
        """The norms over all ranks: each has a part of each gradient."""
        squares = torch.stack([one.square().sum() for one in gradients])
        return self.ranks.sum(squares).sqrt()

    def discard(self) -> None:
        super().discard()
        for _, parameter in self.model.named_parameters():
            parameter.grad = None

    def weights(self) -> dict[str, Block]:
        tensors = cast(nn.Module, self.model).state_dict()
        sharded = {name: self._block(name, one) for name, one in tensors.items() if name in self._shapes}
        return {**whole({name: one.detach() for name, one in tensors.items()}), **sharded}

    def _block(self, name: str, tensor: torch.Tensor) -> Block:
        """The block of the parameter `name`, or of a tensor of the optimizer that is sharded in the same way."""
        shape = self._shapes[name]
        first_row = min(self.ranks.rank * _shard_rows(shape, self.ranks.world), shape[0])
        return Block(_local(tensor), tuple(shape), first_row * math.prod(shape[1:]))

    def state(self) -> EngineState:
        own = super().state()
        tensors = {
            path: self._block(path.partition(".")[2], block.data) if block.shape else block
            for path, block in own.tensors.items()
        }
        return EngineState(tensors, own.values)

    def consolidate(self) -> bool:
        self._optimizer.state.clear()  # room for the whole model
        return consolidate(self._whole, self.weights(), self.ranks, self._dtype)


class _ScalerOfShards(torch.amp.GradScaler):
    """All ranks skip a step if the shard of one overflows. torch's `ShardedGradScaler` fails with fused optimizers."""

    def __init__(self, ranks: Ranks) -> None:
        super().__init__(ranks.device.type)
        self._ranks = ranks

    def unscale_(self, optimizer: torch.optim.Optimizer) -> None:
        super().unscale_(optimizer)
        for overflows in self._found_inf_per_device(optimizer).values():
            overflows.copy_(self._ranks.sum(overflows))


def _options(section: Strategy, device: torch.device) -> dict[str, Any]:
    """The arguments of `fully_shard`."""
    policy = section.mp_policy
    dtypes = {} if policy is None else {name: getattr(torch, word) for name, word in policy if word is not None}
    offload = _offload(section)
    pinned = offload is not None and offload.pin_memory and device.type == "cuda"
    return {
        "reshard_after_forward": section.reshard_after_forward is not False,
        "mp_policy": MixedPrecisionPolicy(**dtypes),
        "offload_policy": CPUOffloadPolicy(pinned) if offload else OffloadPolicy(),
    }


def _offload(section: Strategy) -> Offload | None:
    given = section.offload_policy
    if isinstance(given, bool):
        return Offload() if given else None
    return given


def _cast(module: nn.Module, half: torch.dtype, dtype: torch.dtype) -> None:
    """Make `module` cast the floats of its batch to `half`, which FSDP does only for tensors, and its logits back."""
    module.register_forward_pre_hook(lambda _, given: (replace(given[0], floats=given[0].floats.to(half)),))
    module.register_forward_hook(lambda _, __, logits: {name: one.to(dtype) for name, one in logits.items()})


def _local(tensor: torch.Tensor) -> torch.Tensor:
    """The local shard of a sharded tensor."""
    detached = tensor.detach()
    return detached.to_local() if isinstance(detached, DTensor) else detached


def _shard_rows(shape: torch.Size, world: int) -> int:
    """The rows of a shard, except of the last ones, which can be shorter or empty."""
    return -(-shape[0] // world)
