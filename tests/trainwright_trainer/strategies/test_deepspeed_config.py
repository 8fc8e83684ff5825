"""The config that DeepSpeed gets. Its training is tested in tests/laws/test_deepspeed.py."""

from __future__ import annotations

from typing import Any

import pytest
from deepspeed.runtime.zero.config import DeepSpeedZeroConfig
from deepspeed.runtime.zero.offload_config import DeepSpeedZeroOffloadOptimizerConfig, DeepSpeedZeroOffloadParamConfig
from torch import nn

from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.resource.strategy import OffloadOptimizer, OffloadParam, Strategy, ZeroOptimization
from trainwright_trainer.strategies.deepspeed_config import config_of, width_of


def config(trainer: dict[str, Any] | None = None, **section: Any) -> dict[str, Any]:
    strategy = Strategy.model_validate({"type": "deepspeed", **section})
    return config_of(strategy, TrainerConfig.model_validate(trainer or {}), width=8)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (ZeroOptimization, DeepSpeedZeroConfig),
        (OffloadOptimizer, DeepSpeedZeroOffloadOptimizerConfig),
        (OffloadParam, DeepSpeedZeroOffloadParamConfig),
    ],
)
def test_every_field_is_one_of_deepspeed(ours, theirs):
    known = {info.alias or name for name, info in theirs.model_fields.items()} | set(theirs.model_fields)
    assert set(ours.model_fields) <= known


def test_every_given_field_reaches_deepspeed():
    given = {"stage": 3, "overlap_comm": False, "reduce_bucket_size": 7, "stage3_prefetch_bucket_size": 8}
    found = config(zero_optimization=given)["zero_optimization"]
    assert {name: found[name] for name in given} == given
    assert "offload_optimizer" not in found


def test_auto_follows_from_the_width_of_the_model():
    assert width_of(nn.Sequential(nn.Embedding(1000, 16), nn.Linear(16, 8), nn.LayerNorm(8))) == 16
    names = ("reduce_bucket_size", "stage3_prefetch_bucket_size", "stage3_param_persistence_threshold")
    found = config(zero_optimization={"stage": 3, **dict.fromkeys(names, "auto")})["zero_optimization"]
    assert [found[name] for name in names] == [64, 57, 80]


def test_an_offload_is_given_with_its_device_alone_if_it_is_on():
    offload = {"device": "cpu", "pin_memory": True, "ratio": 0.5}
    found = config(zero_optimization={"stage": 3, "offload_optimizer": offload, "offload_param": {"device": "none"}})
    assert found["zero_optimization"]["offload_optimizer"] == offload
    assert "offload_param" not in found["zero_optimization"]


@pytest.mark.parametrize(
    ("given", "expected"), [({"clipglobalnorm": 0.25}, 0.25), ({"clipglobalnorm": None}, 0.0), (None, 0.0)]
)
def test_the_global_clipping_of_the_trainer_section_applies(given, expected):
    assert config({"gradient_clipping": given})["gradient_clipping"] == expected


def test_half_precision_in_both_forms():
    zero = {"zero_optimization": {"stage": 1}}
    assert config(**zero, bf16=True)["bf16"] == {"enabled": True}
    found = config(**zero, fp16={"enabled": True, "loss_scale": 128.0, "loss_scale_window": 5})["fp16"]
    assert (found["loss_scale"], found["loss_scale_window"], found["hysteresis"]) == (128.0, 5, 2)
    assert "fp16" not in config(**zero, fp16=False)
