"""The config that DeepSpeed gets, from the strategy's object and the trainer section."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from torch import nn

from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.resource.strategy import OffloadOptimizer, OffloadParam, Strategy, ZeroOptimization, is_enabled


def width_of(model: nn.Module) -> int:
    """The model's width: the smaller side of its widest matrix. It is the hidden size of a transformer."""
    return max((min(one.shape) for one in model.parameters() if one.ndim > 1), default=1)


def config_of(section: Strategy, trainer: TrainerConfig, width: int) -> dict[str, Any]:
    """DeepSpeed's config. The loop cuts batches and passes itself, so each pass counts as a batch of one row.

    `width` is that of the model.
    """
    clipping = trainer.gradient_clipping
    config: dict[str, Any] = {
        "train_micro_batch_size_per_gpu": 1,
        "gradient_accumulation_steps": 1,
        "gradient_clipping": (clipping.clipglobalnorm if clipping else None) or 0.0,
        "zero_optimization": _zero(section.zero_optimization or ZeroOptimization(), width),
        "zero_allow_untested_optimizer": True,
        "zero_force_ds_cpu_optimizer": False,
        "steps_per_print": sys.maxsize,
        "timers": {"throughput": {"enabled": False}},  # it waits for the GPU twice a step
    }
    for name in ("fp16", "bf16"):
        given = getattr(section, name)
        if is_enabled(given):
            config[name] = {"enabled": True} if given is True else given.model_dump()
    return config


def _zero(section: ZeroOptimization, width: int) -> dict[str, Any]:
    config = section.model_dump(exclude_none=True, exclude={"offload_optimizer", "offload_param"})
    config |= {name: value for name, value in _autos(width).items() if config[name] == "auto"}
    offloads: Mapping[str, OffloadOptimizer | OffloadParam | None] = {
        "offload_optimizer": section.offload_optimizer,
        "offload_param": section.offload_param,
    }
    for name, offload in offloads.items():
        if offload is not None and offload.device == "cpu":
            config[name] = offload.model_dump(include={"device", "pin_memory", "ratio"})
    return config


def _autos(width: int) -> dict[str, int]:
    """The values of `auto`. Source: Transformers' `HfTrainerDeepSpeedConfig`, with the hidden size as the width."""
    return {
        "reduce_bucket_size": width**2,
        "stage3_prefetch_bucket_size": int(0.9 * width**2),
        "stage3_param_persistence_threshold": 10 * width,
    }
