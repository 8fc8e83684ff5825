"""The laws of combiners, for every combiner that is built: a new one is a new test here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from tests.ranks import on_ranks

from trainwright_api.checks import support
from trainwright_api.config.combiners import COMBINER
from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.loader.encoded_rows import EncodedRows
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.models.model import Model
from trainwright_trainer.models.trainable import allocate
from trainwright_trainer.rundir import model_folder
from trainwright_trainer.storage.local import FolderStorage
from trainwright_trainer.strategies import STRATEGIES
from trainwright_trainer.tasks.saved_model import load_model

from .parity_job import STATISTICS, Case, Seen, all_trained, config_of, interrupted, rows_of, trained

ATTENTION = {"hidden_size": 8, "num_heads": 2, "transformer_output_size": 6, "dropout": 0.0}
SMALL: Mapping[str, Mapping[str, Any]] = {
    "concat": {"num_fc_layers": 2, "output_size": 8},
    "tabnet": {"size": 4, "output_size": 6, "bn_virtual_bs": 22, "sparsity": 0.1, "dropout": 0.0},
    "transformer": {**ATTENTION, "num_layers": 2, "num_fc_layers": 1, "output_size": 6},
    "tabtransformer": {**ATTENTION, "embed_input_feature_name": "add", "num_fc_layers": 1, "output_size": 6},
    "comparator": {"entity_1": ["size", "kind"], "entity_2": ["open", "tags"], "output_size": 6},
    "project_aggregate": {"projection_size": 6, "output_size": 6},
    "sequence_concat": {"main_sequence_feature": "tags"},
    "sequence": {"encoder": {"type": "rnn", "state_size": 5}},
}
"""The settings of each combiner in these tests, without dropout."""
VARIANTS: Mapping[str, Mapping[str, Any]] = {
    "tabnet, whole batches": {"type": "tabnet", **SMALL["tabnet"], "bn_virtual_bs": None},
    "tabnet, adaptive": {"type": "tabnet", **SMALL["tabnet"], "entmax_mode": "adaptive"},
    "transformer, a sequence": {"type": "transformer", **ATTENTION, "reduce_output": None},
    "transformer, attention": {"type": "transformer", **ATTENTION, "reduce_output": "attention"},
    "tabtransformer, names beside": {"type": "tabtransformer", **ATTENTION, "embed_input_feature_name": 3},
    "tabnet, entmax15": {"type": "tabnet", **SMALL["tabnet"], "entmax_mode": "entmax15"},
}
KEPT = {"type": "text", "encoder": {"type": "embed", "embedding_size": 3, "reduce_output": None}}
"""A text whose encoder keeps the sequence."""
# Small virtual batches and large rates amplify rounding in the norms of tabnet more than tenfold a step.
FIXED = {"effective_batch_size": 66, "batch_size": 22, "early_stop": -1, "train_steps": 20, "learning_rate": 0.001}
ZERO = Strategy.model_validate({"type": "deepspeed", "zero_optimization": {"stage": 3}})
SHORT = {"precision": "float32", "train_steps": 5}
HALF = Strategy.model_validate({"type": "fsdp", "mp_policy": {"param_dtype": "bfloat16"}})


def case_of(word: str, **trainer: Any) -> Case:
    tags = {"tags": KEPT} if word.startswith("sequence") else {}
    return Case({**FIXED, **trainer}, {"type": word, **SMALL[word]}, **tags)


def model_of(case: Case) -> Model:
    config = config_of(case)
    model = Model(config, STATISTICS, layout_of(config, STATISTICS), 7)
    allocate(model, torch.device("cpu"))
    return model


def logits(model: Model, rows: EncodedRows) -> dict[str, torch.Tensor]:
    with torch.inference_mode():
        return dict(model.eval()(rows.part(0, len(rows))))


def assert_one_curve(cases: list[Case], workers: int) -> None:
    alone = all_trained(cases)
    for rank in on_ranks(workers, all_trained, cases):
        for found, expected in zip(rank, alone, strict=True):
            assert len(found.losses) == len(expected.losses) == 20
            assert found.losses == pytest.approx(expected.losses, rel=1e-9, abs=1e-9)
            assert found.scores == pytest.approx(expected.scores, rel=1e-8, abs=1e-8)


def assert_saved_model_predicts_the_same(case: Case, folder: Path) -> None:
    seen = trained(case)
    weights = {name: torch.from_numpy(value) for name, value in seen.weights.items()}
    config = config_of(case).model_dump(mode="json")
    model_folder.save(FolderStorage(folder), weights, config, STATISTICS, attempt=1, versions={}, extra={})
    found = logits(load_model(folder).model, rows_of(case, "test"))
    for name, expected in seen.logits.items():
        assert np.array_equal(found[name].numpy(), expected), name


def test_every_combiner_is_tested() -> None:
    assert set(SMALL) == set(support.COMBINERS)


@pytest.mark.parametrize("engine", ["ddp", "fsdp"])
def test_two_workers_have_the_curve_of_one_process(engine: str) -> None:
    assert_one_curve([replace(case_of(word), engine=engine) for word in SMALL], 2)


@pytest.mark.slow
@pytest.mark.parametrize("engine", [word for word in STRATEGIES if word not in ("single", "deepspeed")])
def test_every_variant_has_one_curve_on_three_workers(engine: str) -> None:
    roots = [replace(case_of(word, batch_size=66), loss="root_mean_squared_error") for word in SMALL]
    variants = [Case(FIXED, settings) for settings in VARIANTS.values()]
    assert_one_curve([replace(case, engine=engine) for case in [*roots, *variants]], 3)


@pytest.mark.slow
def test_zero_has_the_curve_of_one_process() -> None:
    cases = [case_of(word, train_steps=10, precision="float32") for word in SMALL]
    alone = all_trained(cases)
    for rank in on_ranks(2, all_trained, [replace(case, engine=ZERO) for case in cases]):
        for found, expected in zip(rank, alone, strict=True):
            assert found.losses == pytest.approx(expected.losses, rel=1e-4, abs=1e-4)


def _with_dropout(combiner: dict[str, Any]) -> dict[str, Any]:
    """The combiner with dropout, if it has that option."""
    has_dropout = "dropout" in COMBINER.section(combiner["type"]).model_fields
    return {**combiner, "dropout": 0.1} if has_dropout else combiner


def all_interrupted(cases: list[Case]) -> list[tuple[Seen, Seen]]:
    return [interrupted(case)[:2] for case in cases]


def test_a_resumed_run_has_the_same_weights_to_the_bit() -> None:
    cases = [case_of(word, steps_per_checkpoint=5) for word in SMALL]
    dropped = [replace(case, combiner=_with_dropout(case.combiner), stop_at=13) for case in cases]
    for rank in on_ranks(2, all_interrupted, dropped):
        for whole, resumed in rank:
            assert resumed.losses == whole.losses[-len(resumed.losses) :]
            assert len(resumed.losses) == 6
            for name, weight in whole.weights.items():
                assert np.array_equal(resumed.weights[name], weight), name


@pytest.mark.parametrize("word", SMALL)
def test_computing_blocks_again_changes_no_bit(word: str) -> None:
    case = case_of(word, train_steps=5)
    again = case_of(word, train_steps=5, enable_gradient_checkpointing=True)
    assert trained(again).losses == trained(case).losses


@pytest.mark.parametrize("word", SMALL)
def test_a_saved_model_predicts_the_same_to_the_bit(word: str, tmp_path: Path) -> None:
    assert_saved_model_predicts_the_same(case_of(word, train_steps=5), tmp_path)


@pytest.mark.parametrize("word", SMALL)
def test_a_row_does_not_depend_on_the_other_rows(word: str) -> None:
    case = case_of(word)
    model, rows = model_of(case), rows_of(case, "test")
    whole = logits(model, rows)
    for part in (slice(0, 1), slice(7, 20)):
        tags = (rows.ragged[0][part],)
        some = logits(model, EncodedRows(rows.floats[part], rows.ints[part], rows.rows[part], tags))
        for name, values in some.items():
            torch.testing.assert_close(values, whole[name][part], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("word", SMALL)
def test_every_input_has_an_effect(word: str) -> None:
    case = case_of(word, train_steps=5)
    model, rows = model_of(case), rows_of(case, "test")
    model.load_state_dict({name: torch.from_numpy(value) for name, value in trained(case).weights.items()})
    before = logits(model, rows)["late"]
    for changed in (
        replace(rows, floats=rows.floats + torch.tensor([1.0, 0.0, 0.0, 0.0], dtype=rows.floats.dtype)),
        replace(rows, floats=rows.floats + torch.tensor([0.0, 1.0, 0.0, 0.0], dtype=rows.floats.dtype)),
        replace(rows, ints=(rows.ints + torch.tensor([1, 0])) % 4),
        replace(rows, ragged=(rows.ragged[0].take(pa.array(np.roll(np.arange(len(rows)), 1))),)),
    ):
        assert not torch.equal(logits(model, changed)["late"], before)


@pytest.mark.slow
def test_half_precision_has_nearly_the_same_curve() -> None:
    """bfloat16 on the CPU, and FSDP with bfloat16 parameters on two ranks. It has three digits."""
    cases = [case_of(word, **SHORT) for word in SMALL]
    cases += [Case({**FIXED, **SHORT}, settings) for settings in VARIANTS.values()]
    mixed = [replace(case, trainer={**case.trainer, "use_mixed_precision": True}) for case in cases]
    alone, in_half = all_trained(cases), all_trained(mixed)
    sharded = on_ranks(2, all_trained, [replace(case, engine=HALF) for case in cases])[0]
    for expected, *others in zip(alone, in_half, sharded, strict=True):
        for found in others:
            assert found.losses == pytest.approx(expected.losses, rel=0.05, abs=0.05)
            assert found.losses != expected.losses
