"""Decoder-only models as encoders, with random weights: sharded training has the curve of one process."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from tests.ranks import on_ranks

from trainwright_api.resource.strategy import Strategy

from . import parity_job
from .parity_job import Case, Seen, trained

MODELS: Mapping[str, Mapping[str, Any]] = {
    "llama": {
        "hidden_size": 8,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "intermediate_size": 8,
    },
    "bloom": {"hidden_size": 8, "n_layer": 2, "n_head": 2},
}
FIXED = {"effective_batch_size": 66, "batch_size": 22, "early_stop": -1, "train_steps": 8, "learning_rate": 0.003}


def folder_of(word: str, home: Path) -> tuple[Path, dict[str, Any]]:
    """The folder of a model with random weights, and its configuration."""
    from transformers import AutoConfig, AutoModel

    torch.manual_seed(0)
    config = AutoConfig.for_model(word, vocab_size=12, pad_token_id=0, bos_token_id=1, eos_token_id=2, **MODELS[word])
    AutoModel.from_config(config).save_pretrained(home / word)
    return home / word, json.loads(config.to_json_string(use_diff=False))


def run_of(case: Case, config: Mapping[str, Any]) -> Seen:
    with patch.dict(parity_job.STATISTICS["tags"], pretrained=config):
        return trained(case)


def case_of(folder: Path, **trainer: Any) -> Case:
    encoder = {"type": "auto_transformer", "pretrained_model_name_or_path": str(folder), "trainable": True}
    tags = {"type": "text", "encoder": {**encoder, "reduce_output": "last"}}
    tags["preprocessing"] = {"tokenizer": "space"}
    return Case({**FIXED, **trainer}, tags=tags)


@pytest.mark.parametrize("word", MODELS)
def test_fsdp_on_two_ranks_has_the_curve_of_one_process(word: str, tmp_path: Path) -> None:
    folder, config = folder_of(word, tmp_path)
    alone = run_of(case_of(folder), config)
    assert alone.losses[-1] < alone.losses[0]
    for found in on_ranks(2, _fsdp, folder, config):
        assert found.losses == pytest.approx(alone.losses, rel=1e-9, abs=1e-9)
        assert found.scores == pytest.approx(alone.scores, rel=1e-8, abs=1e-8)


def _fsdp(folder: Path, config: Mapping[str, Any]) -> Seen:
    return run_of(replace(case_of(folder), engine="fsdp"), config)


@pytest.mark.slow
@pytest.mark.parametrize("word", MODELS)
def test_zero_3_on_two_ranks_has_the_curve_of_one_process(word: str, tmp_path: Path) -> None:
    folder, config = folder_of(word, tmp_path)
    alone = run_of(case_of(folder, precision="float32"), config)
    for found in on_ranks(2, _zero, folder, config):
        assert found.losses == pytest.approx(alone.losses, rel=1e-4, abs=1e-5)


def _zero(folder: Path, config: Mapping[str, Any]) -> Seen:
    section = Strategy.model_validate({"type": "deepspeed", "zero_optimization": {"stage": 3}})
    return run_of(replace(case_of(folder, precision="float32"), engine=section), config)
