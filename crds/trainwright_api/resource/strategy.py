"""Gradient synchronisation: the words of `backend.trainer.strategy`, and its object form with the options of FSDP and
DeepSpeed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.schema.fields import Auto
from trainwright_api.schema.section import Section, relation
from trainwright_api.schema.unions import ByKind

StrategyName = Literal["ddp", "fsdp", "deepspeed", "horovod"]
Elements = Annotated[int, Field(ge=0, le=2**53)]
AutoElements = Annotated[Elements | Auto, ByKind("a whole number, or the word auto", number=Elements, text=Auto)]
Path = Annotated[str, Field(min_length=1, max_length=1024)]


class OffloadOptimizer(Section):
    """Offloading of the optimizer state. Used from ZeRO stage 1."""

    device: Literal["none", "cpu", "nvme"] = Field("none", description="Device that holds the state.")
    nvme_path: Path | None = Field(None, description="The folder of the NVMe device, for device nvme.")
    buffer_count: Annotated[int, Field(ge=0, le=1024)] = Field(4, description="Number of buffers in the pool for NVMe.")
    pin_memory: bool = Field(False, description="Use page-locked CPU memory. It is faster, but needs more memory.")
    pipeline_read: bool = Field(False, description="Read the next tile during the computation of the current one.")
    pipeline_write: bool = Field(
        False, description="Write the previous tile during the computation of the current one."
    )
    fast_init: bool = Field(False, description="Fast initialization of the state on NVMe.")
    ratio: Annotated[float, Field(ge=0, le=1)] = Field(1.0, description="Fraction of the state that is offloaded.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        return _nvme_needs_path(self.device, self.nvme_path)


class OffloadParam(Section):
    """Offloading of the parameters. Used in ZeRO stage 3 only."""

    device: Literal["none", "cpu", "nvme"] = Field("none", description="Device that holds the parameters.")
    nvme_path: Path | None = Field(None, description="The folder of the NVMe device, for device nvme.")
    buffer_count: Annotated[int, Field(ge=0, le=1024)] = Field(5, description="Number of buffers in the pool for NVMe.")
    buffer_size: Elements = Field(100_000_000, description="Size of each buffer in elements.")
    max_in_cpu: Elements = Field(
        1_000_000_000, description="Number of elements that stay in CPU memory with NVMe offload."
    )
    pin_memory: bool = Field(False, description="Use page-locked CPU memory. It is faster, but needs more memory.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        return _nvme_needs_path(self.device, self.nvme_path)


class ZeroOptimization(Section):
    """DeepSpeed's ZeRO: sharding of the training state over the workers. The names are DeepSpeed's."""

    stage: Annotated[int, Field(ge=0, le=3)] = Field(
        0, description="ZeRO stage. Shards 0: nothing, 1: optimizer states, 2: also gradients, 3: also parameters."
    )
    offload_optimizer: OffloadOptimizer | None = Field(None, description="Offloading of the optimizer state.")
    offload_param: OffloadParam | None = Field(None, description="Offloading of the parameters (stage 3).")
    overlap_comm: bool | None = Field(
        None,
        description="Overlap the reduction of gradients with the backward pass. null: true in stage 3, else false.",
    )
    contiguous_gradients: bool = Field(True, description="Copy gradients into one buffer as they are produced.")
    reduce_scatter: bool = Field(True, description="Use reduce-scatter instead of all-reduce for gradients.")
    reduce_bucket_size: AutoElements = Field(
        500_000_000, description="Number of elements that are reduced at a time. auto: the square of the model's width."
    )
    allgather_partitions: bool = Field(
        True, description="Gather updated parameters with all-gather instead of broadcasts."
    )
    allgather_bucket_size: Elements = Field(500_000_000, description="Number of elements that are gathered at a time.")
    sub_group_size: Elements = Field(1_000_000_000, description="Tile size of parameters in stage 3, in elements.")
    round_robin_gradients: bool = Field(
        False, description="Distribute the copying of gradients to the CPU over the ranks."
    )
    ignore_unused_parameters: bool = Field(True, description="Allow parameters that a step does not use (stage 2).")
    stage3_prefetch_bucket_size: AutoElements = Field(
        50_000_000,
        description="Number of elements that are prefetched (stage 3). auto: 0.9 × the square of the model's width.",
    )
    stage3_param_persistence_threshold: AutoElements = Field(
        100_000,
        description="Parameters with fewer elements are not sharded (stage 3). auto: 10 × the model's width.",
    )
    stage3_max_live_parameters: Elements = Field(
        1_000_000_000, description="Maximum number of gathered elements on a GPU (stage 3)."
    )
    stage3_max_reuse_distance: Elements = Field(
        1_000_000_000,
        description="A parameter that is used again within this number of elements is not released (stage 3).",
    )
    stage3_gather_16bit_weights_on_model_save: bool = Field(
        False, description="Gather 16-bit weights for a saved model (stage 3)."
    )

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.offload_param and self.stage != 3:
            yield relation(f"acts in ZeRO stage 3 only; the stage here is {self.stage}", "offload_param")
        if self.offload_optimizer and self.stage == 0:
            yield relation("acts from ZeRO stage 1 on; the stage here is 0", "offload_optimizer")


class Fp16(Section):
    """DeepSpeed's training with float16 and loss scaling."""

    enabled: bool = Field(False, description="Train with float16.")
    auto_cast: bool = Field(False, description="Cast the inputs to float16.")
    loss_scale: Annotated[float, Field(ge=0)] = Field(0.0, description="Fixed loss scale. 0: dynamic.")
    initial_scale_power: Annotated[int, Field(ge=0, le=64)] = Field(
        16, description="Exponent of the initial loss scale, a power of 2."
    )
    loss_scale_window: Annotated[int, Field(ge=1, le=2**53)] = Field(
        1000, description="Number of steps without overflow before the loss scale increases."
    )
    hysteresis: Annotated[int, Field(ge=1, le=2**53)] = Field(
        2, description="Number of overflows before the loss scale decreases."
    )
    consecutive_hysteresis: bool = Field(False, description="Reset the count of overflows after a step without one.")
    min_loss_scale: Annotated[float, Field(ge=0)] = Field(1.0, description="Minimum loss scale.")


class Bf16(Section):
    """DeepSpeed's training with bfloat16, on GPUs that have it (Ampere and later)."""

    enabled: bool = Field(False, description="Train with bfloat16.")
    immediate_grad_update: bool = Field(False, description="Accumulate each gradient immediately.")


Float16 = Annotated[Fp16 | bool, ByKind("true, false, or an object with enabled", flag=bool, keys=Fp16)]
BFloat16 = Annotated[Bf16 | bool, ByKind("true, false, or an object with enabled", flag=bool, keys=Bf16)]


class MixedPrecisionPolicy(Section):
    """FSDP's mixed precision. The names are those of torch's `MixedPrecisionPolicy`."""

    param_dtype: Literal["bfloat16"] | None = Field(
        None, description="Data type of the gathered parameters and of the computation. null: that of the run."
    )
    reduce_dtype: Literal["float32", "bfloat16"] | None = Field(
        None, description="Data type in which gradients are summed. null: that of the run."
    )


class OffloadPolicy(Section):
    """FSDP's offload to the CPU: shards of parameters, gradients and optimizer state, and the optimizer's step."""

    pin_memory: bool = Field(
        True, description="Use page-locked CPU memory, so that copies overlap with the computation."
    )


OnOffload = Annotated[OffloadPolicy | bool, ByKind("true, false, or {pin_memory}", flag=bool, keys=OffloadPolicy)]
# Options of one strategy only → that strategy.
OPTIONS = {
    "zero_optimization": "deepspeed",
    "fp16": "deepspeed",
    "bf16": "deepspeed",
    "reshard_after_forward": "fsdp",
    "mp_policy": "fsdp",
    "offload_policy": "fsdp",
}
_PRECISIONS = ("fp16", "bf16", "mp_policy")


class Strategy(Section):
    """The object form of `strategy`: its type, and the options of FSDP or DeepSpeed."""

    type: StrategyName = Field(description="The strategy: ddp, fsdp, deepspeed or horovod.")
    zero_optimization: ZeroOptimization | None = Field(None, description="DeepSpeed's ZeRO (type deepspeed only).")
    fp16: Float16 | None = Field(None, description="Train with float16 (type deepspeed only).")
    bf16: BFloat16 | None = Field(None, description="Train with bfloat16 (type deepspeed only).")
    reshard_after_forward: bool | None = Field(
        None, description="Free the gathered parameters of a block after its forward pass (type fsdp only). null: true."
    )
    mp_policy: MixedPrecisionPolicy | None = Field(None, description="Mixed precision (type fsdp only).")
    offload_policy: OnOffload | None = Field(None, description="Offload to the CPU (type fsdp only).")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from self._of_other_strategies()
        if self.type != "deepspeed":
            return
        if is_enabled(self.fp16) and is_enabled(self.bf16):
            yield relation("fp16 and bf16 are both enabled: choose one", "bf16")
        elif self.stage == 0:
            for name in ("fp16", "bf16"):
                if is_enabled(getattr(self, name)):
                    yield relation("needs zero_optimization.stage 1, 2 or 3; the stage here is 0", name)

    @property
    def stage(self) -> int:
        """The ZeRO stage."""
        return self.zero_optimization.stage if self.zero_optimization else 0

    def _of_other_strategies(self) -> Iterator[InitErrorDetails]:
        for name, strategy in OPTIONS.items():
            if getattr(self, name) is not None and self.type != strategy:
                instead = "; here, set config.trainer.use_mixed_precision" if name in _PRECISIONS else ""
                yield relation(f"acts with strategy {strategy} only, not with {self.type}{instead}", name)


StrategyOrWord = Annotated[
    StrategyName | Strategy,
    ByKind("ddp, fsdp, deepspeed or horovod, or an object with type", text=StrategyName, keys=Strategy),
]


def is_enabled(precision: Fp16 | Bf16 | bool | None) -> bool:
    """True if `fp16` or `bf16`, in either form, is switched on."""
    return precision is True or (isinstance(precision, Fp16 | Bf16) and precision.enabled)


def _nvme_needs_path(device: str, path: str | None) -> Iterator[InitErrorDetails]:
    if device == "nvme" and path is None:
        yield relation("missing: device nvme needs the path of a folder on it", "nvme_path")
