"""Several processes that train with DeepSpeed's ZeRO.

Stage 1 shards the optimizer's state over the ranks, stage 2 also the gradients, stage 3 also the parameters. DeepSpeed
keeps float32 master weights, so its curve agrees with the other strategies' to float32.

Each rank's shards of the state are blocks of the whole parameters, so checkpoints have the format of all strategies.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import replace
from typing import Any, cast

import deepspeed
import torch
import torch.distributed as dist
from deepspeed import utils as ds
from deepspeed.accelerator import get_accelerator
from torch import nn

from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.problems import Mistakes
from trainwright_api.resource.strategy import Strategy, is_enabled
from trainwright_trainer.distributed.process_group import join_group_of_one, raising_peer_lost
from trainwright_trainer.distributed.ranks import Ranks
from trainwright_trainer.layers.batch_norm import share_batch_norm
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.models.model import DTYPES
from trainwright_trainer.models.penalty import Kind, kind_of, penalty
from trainwright_trainer.models.trainable import Tensors, Trainable, allocate, replace_parameter
from trainwright_trainer.optim.optimizers import make_optimizer
from trainwright_trainer.rundir.blocks import Block, TensorSpec, whole
from trainwright_trainer.strategies.consolidate import consolidate
from trainwright_trainer.strategies.deepspeed_config import config_of, width_of
from trainwright_trainer.strategies.deepspeed_sums import RunningSums, can_run_beside_backward
from trainwright_trainer.strategies.interface import EngineState
from trainwright_trainer.strategies.optimizer_state import (
    allocate_optimizer,
    device_of_steps,
    optimizer_tensors,
    optimizer_values,
)
from trainwright_trainer.strategies.precision import Forward, in_dtype, with_forward

# The state of DeepSpeed's loss scaler. A fixed scale has the first alone.
_SCALER = ("cur_scale", "cur_iter", "last_overflow_iter", "cur_hysteresis")


class Deepspeed:
    """Works on a copy of the model. The given model stays on the meta device until `consolidate`."""

    is_sharded = True

    def __init__(
        self, section: Strategy, model: Trainable, trainer: TrainerConfig, learning_rate: float, ranks: Ranks
    ) -> None:
        check_precision(section)
        self.ranks, self._given = ranks, model
        self._stage = section.stage
        self._dtype = DTYPES[trainer.precision]
        self._factor = trainer.regularization_lambda
        copy = deepcopy(model)
        self._module = module = cast(nn.Module, copy)
        config = config_of(section, trainer, width_of(module))
        self._half = _half(section)
        _prepare(ranks.device)
        if self._stage == 3:
            with raising_peer_lost():
                _allocate_shards(copy, config, self._half or torch.float32)
        allocate(copy, ranks.device)
        share_batch_norm(module, ranks)
        buffers = {name: buffer.clone() for name, buffer in self._buffers()}
        self._named = {name: one for name, one in module.named_parameters() if one.requires_grad}
        self._penalty = kind_of(trainer, self._named)
        optimizer = make_optimizer(trainer.optimizer, self._named.values(), learning_rate)
        with raising_peer_lost():
            self._engine, *_ = deepspeed.initialize(
                model=module, optimizer=optimizer, config=config, dist_init_required=False
            )
            self._sums = RunningSums(self._engine) if can_run_beside_backward(self._engine, ranks) else None
        for name, buffer in self._buffers():
            buffer.data = buffers[name]  # statistics stay in float32
        self.model = with_forward(copy, _in_half(copy, self._half, self._dtype)) if self._half else copy
        self._forward: Forward = _in_half(self._engine, self._half, self._dtype) if self._half else self._engine
        self._last_pass = True

    def _buffers(self) -> Iterator[tuple[str, torch.Tensor]]:
        """The buffers that are part of the weights. The others only carry the dtype of the model."""
        persistent = self._module.state_dict().keys()
        return ((name, one) for name, one in self._module.named_buffers() if name in persistent)

    @property
    def _optimizer(self) -> Any:
        """The optimizer of torch. ZeRO wraps it."""
        return getattr(self._engine.optimizer, "optimizer", self._engine.optimizer)

    def warm_up(self, batch: Batch) -> None: ...

    def forward(self, batch: Batch, *, last: bool) -> Tensors:
        self._last_pass = last
        self._engine.set_gradient_accumulation_boundary(last)
        with raising_peer_lost():
            return self._forward(batch)

    def penalty(self) -> torch.Tensor | None:
        if self._penalty is None:
            return None
        if self._stage < 3:
            return self.model.regularization(self._penalty, self._factor) / self.ranks.world
        return penalty(self._own_shards(), self._penalty, self._factor)

    def _own_shards(self) -> dict[str, torch.Tensor]:
        """This rank's float32 shard of each parameter (stage 3), without the padding."""
        return {
            name: ds.safe_get_local_fp32_param(one).detach()[: self._own_numel(one)]
            for name, one in self._named.items()
        }

    def _own_numel(self, parameter: nn.Parameter) -> int:
        """Stage 3 cuts the flat parameter into equal shards. The last ones can be padded."""
        sharded = cast(Any, parameter)
        size = sharded.ds_tensor.numel()
        return int(min(max(sharded.ds_numel - size * self.ranks.rank, 0), size))

    def start_sum(self, own: torch.Tensor) -> Callable[[], torch.Tensor]:
        return self.ranks.start_sum(own)

    def accumulate(self, loss: torch.Tensor) -> None:
        """DeepSpeed takes the mean of the gradients over ranks. The loss is multiplied by `world`, so it is a sum."""
        with raising_peer_lost():
            self._engine.backward(loss * self.ranks.world)
        if self._last_pass:
            self.ranks.watch.computed()

    def update(self, rate: float) -> None:
        for group in self._optimizer.param_groups:
            group["lr"] = rate
        if self._stage == 3 and self._penalty is not None:
            self._add_gradient_of_penalty(self._penalty)
        with raising_peer_lost():
            self._engine.step()

    def _add_gradient_of_penalty(self, kind: Kind) -> None:
        """Parameters have no memory outside the passes, so a penalty in the loss would have no gradient."""
        shards = {name: shard.clone().requires_grad_() for name, shard in self._own_shards().items()}
        (penalty(shards, kind, self._factor) * self._engine.optimizer.loss_scale).backward()
        for name, shard in shards.items():
            if shard.grad is not None:
                gradient = ds.safe_get_local_grad(self._named[name]).clone()
                gradient[: len(shard)] += shard.grad
                ds.safe_set_local_grad(self._named[name], gradient)

    def discard(self) -> None:
        self._engine.zero_grad()
        self._engine.optimizer.zero_grad()

    def weights(self) -> dict[str, Block]:
        found = {name: self._block(one) for name, one in self._module.named_parameters()}
        found |= whole(dict(self._buffers()))
        return {name: found[name] for name in self._module.state_dict()}

    def _block(self, parameter: nn.Parameter, key: str | None = None) -> Block:
        """This rank's float32 master weights, or its part of the optimizer's state `key`.

        Without master weights it is the parameter itself, which may be in half precision.
        """
        sharded = cast(Any, parameter)
        if self._stage == 3:
            own, size = self._own_numel(parameter), sharded.ds_tensor.numel()
            flat = self._partition(parameter, key) if parameter.requires_grad else sharded.ds_tensor
            return Block(flat.detach()[:own], tuple(sharded.ds_shape), min(size * self.ranks.rank, sharded.ds_numel))
        if self._stage == 0 or not parameter.requires_grad:
            return Block(parameter.detach(), tuple(parameter.shape))
        fragment = sharded._hp_mapping
        if fragment is None:
            return Block(parameter.new_empty(0, dtype=torch.float32), tuple(parameter.shape), 0)
        return Block(fragment.get_hp_fragment(key).detach(), tuple(parameter.shape), fragment.lp_fragment_address.start)

    def _partition(self, parameter: nn.Parameter, key: str | None) -> torch.Tensor:
        """This rank's part of a trained parameter in stage 3, with the padding."""
        found: torch.Tensor = self._engine.optimizer._get_fp32_opt_state_partition(parameter, False, key)[0]
        return found

    def refresh(self) -> None:
        """Copy the master weights into the parameters."""
        zero = self._engine.optimizer
        if self._stage == 3:
            for parameter in self._named.values():
                sharded: Any = parameter
                sharded.ds_tensor.data[: self._own_numel(parameter)].copy_(self._block(parameter).data)
            kept = zero.persistent_parameters  # small ones, which every rank keeps whole
            if kept:
                kept[0].partition(kept)
                kept[0].all_gather(kept)
        elif self._stage:
            zero.update_lp_params()

    def state(self) -> EngineState:
        if self._stage == 0:
            values = {"optimizer": optimizer_values(self._optimizer, self._named), "scaler": None}
            return EngineState(whole(optimizer_tensors(self._optimizer, self._named)), values)
        tensors: dict[str, Block] = {}
        first: Mapping[str, Any] = next(iter(self._optimizer.state.values()), {})
        for key, value in first.items():
            for name, parameter in self._named.items() if isinstance(value, torch.Tensor) else ():
                tensors[f"{key}.{name}"] = self._block(parameter, key) if value.ndim else Block(value, ())
        return EngineState(tensors, {"optimizer": {}, "scaler": self._scaler()})

    def _scaler(self) -> dict[str, Any] | None:
        scaler = getattr(self._engine.optimizer, "loss_scaler", None)
        if self._half is not torch.float16 or scaler is None:
            return None
        return {name: getattr(scaler, name) for name in _SCALER if hasattr(scaler, name)}

    def allocate(self, specs: Mapping[str, TensorSpec], values: Mapping[str, Any]) -> None:
        if self._stage == 0:
            allocate_optimizer(self._optimizer, self._named, specs, values["optimizer"])
            return
        zero = self._engine.optimizer
        flat = zero.fp32_partitioned_groups_flat if self._stage == 3 else zero.single_partition_of_fp32_groups
        by_key = {path.partition(".")[0]: spec for path, spec in specs.items()}
        for shard in flat:
            steps_on = device_of_steps(self._optimizer, shard)
            self._optimizer.state[shard] = {
                key: torch.zeros_like(shard) if spec.shape else torch.empty((), dtype=spec.dtype, device=steps_on)
                for key, spec in by_key.items()
            }
        if self._stage < 3 and by_key:
            zero._lazy_init_hp_params_optimizer_state()
        if self._scaler() is not None:
            for name, value in (values["scaler"] or {}).items():
                if name in _SCALER:  # another strategy's scaler has other names; this one then begins anew
                    setattr(zero.loss_scaler, name, value)

    def consolidate(self) -> bool:
        return consolidate(self._given, self.weights(), self.ranks, self._dtype)

    def finish(self) -> None:
        if self._sums is not None:
            self._sums.close()
        self._engine.destroy()


def _prepare(device: torch.device) -> None:
    """Give DeepSpeed its device and its process group."""
    ds.logger.setLevel(logging.ERROR)
    # On a CPU DeepSpeed would compile this operation, which nothing here uses, in every process.
    deepspeed.ops.__compatible_ops__["deepspeed_shm_comm"] = False
    if not dist.is_initialized():
        join_group_of_one(device)
    os.environ.update(_local_rank(device, os.environ))


def _allocate_shards(model: Trainable, config: dict[str, Any], dtype: torch.dtype) -> None:
    """Stage 3: give each rank its shards of the initial values, as `dtype`. Only one parameter at a time is whole."""
    module = cast(nn.Module, model)
    deepspeed.init_distributed(dist_init_required=False)
    init = deepspeed.zero.Init(module=nn.Module(), config_dict_or_path=config)
    for name, values in model.initial_weights():
        replace_parameter(module, name, values.to(dtype))
        init._convert_to_zero_parameters([module.get_parameter(name)])
    for given in module.parameters():  # a pretrained encoder has values already
        given.data = given.data.to(dtype)
        init._convert_to_zero_parameters([given])


def _in_half(forward: Forward, half: torch.dtype, dtype: torch.dtype) -> Forward:
    """Return `forward` for batches whose floats are not `half` yet, with logits of `dtype`."""

    def computed(batch: Batch) -> Tensors:
        return in_dtype(forward(replace(batch, floats=batch.floats.to(half))), dtype)

    return computed


def _local_rank(device: torch.device, given: Mapping[str, str]) -> dict[str, str]:
    """The variables from which DeepSpeed takes its device, also in later steps. `given`: those of a launcher, which may
    show each process its own GPU as number 0."""
    of_mpi = given.get("OMPI_COMM_WORLD_LOCAL_RANK")
    number = str(device.index or 0) if device.type != "cpu" else given.get("LOCAL_RANK") or of_mpi or "0"
    return {"LOCAL_RANK": number, **({"OMPI_COMM_WORLD_LOCAL_RANK": number} if of_mpi else {})}


def _half(section: Strategy) -> torch.dtype | None:
    if is_enabled(section.bf16):
        return torch.bfloat16
    return torch.float16 if is_enabled(section.fp16) else None


def check_precision(section: Strategy) -> None:
    """Raise `Mistakes` if the device of this process does not compute in the half precision of the strategy."""
    device = get_accelerator()
    supported = {"fp16": device.is_fp16_supported, "bf16": device.is_bf16_supported}
    for name, other in (("fp16", "bf16"), ("bf16", "fp16")):
        if is_enabled(getattr(section, name)) and not supported[name]():
            found = f"this device ({device.device_name()}) does not compute in {name}: use {other}, or neither"
            raise Mistakes.one(f"backend.trainer.strategy.{name}", found)
