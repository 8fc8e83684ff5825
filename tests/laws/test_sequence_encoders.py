"""The laws of the encoders of texts and sequences, for every one that is built: a new one is a new test here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.ranks import on_ranks

from trainwright_api.checks import support

from .parity_job import Case, all_trained, interrupted, trained
from .test_combiners import assert_one_curve, assert_saved_model_predicts_the_same, model_of

_CNN = {"num_filters": 3, "num_fc_layers": 1, "output_size": 4}
SMALL: Mapping[str, Mapping[str, Any]] = {
    "passthrough": {"reduce_output": "sum"},
    "embed": {},
    "parallel_cnn": _CNN,
    "stacked_cnn": {**_CNN, "norm": "batch"},
    "stacked_parallel_cnn": _CNN,
    "rnn": {"state_size": 3, "cell_type": "lstm", "bidirectional": True, "num_layers": 2},
    "cnnrnn": {"num_filters": 3, "state_size": 3},
    "transformer": {"hidden_size": 4, "num_heads": 2, "transformer_output_size": 3, "dropout": 0.0},
}
"""The settings of each encoder in these tests, without dropout."""
FIXED = {"effective_batch_size": 66, "batch_size": 22, "early_stop": -1, "train_steps": 20, "learning_rate": 0.003}


def case_of(word: str, **trainer: Any) -> Case:
    tags = {
        "type": "text",
        "encoder": {"type": word, **({} if word == "passthrough" else {"embedding_size": 3}), **SMALL[word]},
    }
    return Case({**FIXED, **trainer}, tags=tags)


def test_every_encoder_is_tested() -> None:
    assert set(SMALL) == set(support.ENCODERS["sequence"])
    assert set(SMALL) <= set(support.ENCODERS["text"])


def test_two_workers_have_the_curve_of_one_process() -> None:
    assert_one_curve([case_of(word) for word in SMALL], 2)


@pytest.mark.slow
@pytest.mark.parametrize("engine", ["fsdp", "horovod"])
def test_every_strategy_has_one_curve_on_three_workers(engine: str) -> None:
    assert_one_curve([replace(case_of(word, batch_size=66), engine=engine) for word in SMALL], 3)


@pytest.mark.slow
@pytest.mark.parametrize("word", [word for word in SMALL if word != "passthrough"])
def test_a_resumed_run_has_the_same_weights_to_the_bit(word: str) -> None:
    case = case_of(word, steps_per_checkpoint=5)
    dropped = {**case.tags, "encoder": {**case.tags["encoder"], "dropout": 0.1}}
    for whole, resumed, _ in on_ranks(2, interrupted, replace(case, tags=dropped, stop_at=13)):
        assert resumed.losses == whole.losses[-len(resumed.losses) :]
        assert len(resumed.losses) == 6
        for name, weight in whole.weights.items():
            assert np.array_equal(resumed.weights[name], weight), name


def test_a_resumed_recurrent_network_has_the_same_weights_to_the_bit() -> None:
    """The core of the slow test above: the parameters of this encoder are those of a module of torch."""
    for whole, resumed, _ in on_ranks(2, interrupted, replace(case_of("rnn", steps_per_checkpoint=5), stop_at=13)):
        for name, weight in whole.weights.items():
            assert np.array_equal(resumed.weights[name], weight), name


@pytest.mark.parametrize("word", [word for word in SMALL if word not in ("passthrough", "embed", "rnn")])
def test_computing_blocks_again_changes_no_bit(word: str) -> None:
    case = case_of(word, train_steps=4)
    again = case_of(word, train_steps=4, enable_gradient_checkpointing=True)
    assert trained(again).losses == trained(case).losses


@pytest.mark.parametrize("word", SMALL)
def test_a_saved_model_predicts_the_same_to_the_bit(word: str, tmp_path: Path) -> None:
    assert_saved_model_predicts_the_same(case_of(word, train_steps=4), tmp_path)


def test_frozen_embeddings_stay_as_they_are() -> None:
    case = case_of("embed", train_steps=4)
    frozen = {**case.tags, "encoder": {**case.tags["encoder"], "embeddings_trainable": False}}
    name = "encoders.tags.embedding.table.weight"
    fresh = dict(model_of(case).state_dict())[name].numpy()
    (before,) = all_trained([replace(case, tags=frozen)])
    assert np.array_equal(before.weights[name], fresh)
    assert not np.array_equal(trained(case).weights[name], fresh)
