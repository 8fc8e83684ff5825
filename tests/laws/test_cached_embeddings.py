"""The laws of cached embeddings: the same training as with the encoder in each step, and the same saved model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file, save_file
from tests.ranks import on_ranks

from trainwright_api.config import ModelConfig, resolve
from trainwright_api.problems import Mistakes
from trainwright_trainer import evaluate, predict, train
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.distributed.ranks import OneRank, Ranks
from trainwright_trainer.encoders.pretrained import Pretrained
from trainwright_trainer.errors import StoppedRun
from trainwright_trainer.job.options import Options
from trainwright_trainer.runtime.signals import StopRequest
from trainwright_trainer.tasks.embeddings import embedding_keys, with_embeddings
from trainwright_trainer.tasks.run import run

from .cached import trained_alike
from .tiny_text import job, make_home


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_home(tmp_path_factory.mktemp("models"))


@pytest.fixture
def copied(home: Path, tmp_path: Path) -> Path:
    """A copy of the models and the data, which a test may change."""
    return Path(shutil.copytree(home, tmp_path / "home", ignore=shutil.ignore_patterns(".trainwright_cache")))


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The rows of each forward pass of a pretrained encoder."""
    rows: list[int] = []
    forward = Pretrained.forward

    def counting(self: Pretrained, columns: Any) -> torch.Tensor:
        rows.append(len(columns))
        return forward(self, columns)

    monkeypatch.setattr(Pretrained, "forward", counting)
    return rows


def cached(home: Path, word: str = "bert", **encoder: Any) -> dict[str, Any]:
    given = job(home, word, **encoder)
    given["config"]["input_features"][0]["preprocessing"] = {"cache_encoder_embeddings": True}
    return given


@pytest.mark.parametrize(("word", "own"), [("bert", {}), ("gpt2", {"reduce_output": "last"}), ("albert", {})])
def test_losses_and_the_saved_model_are_those_of_an_uncached_run(
    word: str, own: dict[str, Any], home: Path, tmp_path: Path
) -> None:
    plain, own_cached = job(home, word, **own), cached(home, word, **own)
    trained_alike(plain, own_cached, tmp_path)


def test_steps_are_cached_like_vectors(home: Path, tmp_path: Path) -> None:
    jobs = job(home, reduce_output=None), cached(home, reduce_output=None)
    for one in jobs:
        one["config"]["combiner"] = {"type": "sequence", "encoder": {"type": "rnn", "state_size": 4}}
    trained_alike(*jobs, tmp_path)
    data = embedded(jobs[1])
    widths = [len(row) for row in data.columns["review"].to_pylist()[:2]]
    assert widths == [8 * data.statistics["review"]["length"] + 1] * 2


def test_a_saved_model_reads_raw_text_and_needs_neither_the_folder_nor_the_cache(copied: Path, tmp_path: Path) -> None:
    given = cached(copied)
    result = train(given, output=tmp_path / "out", quiet=True)
    scores = evaluate(given, model=tmp_path / "out", output=tmp_path / "scores", quiet=True)
    assert scores["late"] == pytest.approx(result.test["late"], abs=1e-6)
    frame = pd.read_parquet(copied / "rows.parquet")
    shutil.rmtree(copied)
    found = predict(dataset=frame[["review"]][:5], model=tmp_path / "out", output=tmp_path / "a.parquet", quiet=True)
    assert np.isfinite(found["late_probability"].to_numpy()).all()


def test_each_row_is_encoded_once_and_never_again_after_a_change_of_the_head(
    copied: Path, tmp_path: Path, passes: list[int]
) -> None:
    given = cached(copied)
    train(given, output=tmp_path / "one", quiet=True)
    assert sum(passes) == 200
    passes.clear()
    given["config"]["trainer"] |= {"learning_rate": 0.003, "epochs": 2}
    given["config"]["combiner"] = {"type": "concat", "num_fc_layers": 1, "output_size": 4}
    train(given, output=tmp_path / "two", quiet=True)
    assert passes == []


def _changed_weight(home: Path) -> None:
    path = home / "bert" / "model.safetensors"
    weights = load_file(path)
    weights["pooler.dense.bias"][0] += 1e-3
    save_file(weights, path, metadata={"format": "pt"})


def _changed_tokenizer(home: Path) -> None:
    path = home / "bert" / "tokenizer.json"
    path.write_text(path.read_text().replace('"good"', '"evil"'))


def _changed_config(home: Path) -> None:
    path = home / "bert" / "config.json"
    path.write_text(path.read_text().replace('"num_attention_heads": 2', '"num_attention_heads": 1'))


@pytest.mark.parametrize("change", [_changed_weight, _changed_tokenizer, _changed_config])
def test_another_byte_of_the_model_is_another_key(change: Callable[[Path], None], copied: Path) -> None:
    before = keys_of(cached(copied))
    assert keys_of(cached(copied)) == before
    change(copied)
    assert keys_of(cached(copied)) != before


@pytest.mark.parametrize(
    "other",
    [
        {"encoder": {"reduce_output": "mean"}},
        {"encoder": {"use_pretrained": False, "hidden_size": 8, "num_attention_heads": 2, "num_hidden_layers": 1}},
        {"trainer": {"precision": "float64"}},
    ],
)
def test_another_field_of_the_encoder_is_another_key(other: dict[str, Any], copied: Path) -> None:
    given = cached(copied, **other.get("encoder", {}))
    given["config"]["trainer"] |= other.get("trainer", {})
    assert keys_of(given) != keys_of(cached(copied))


def keys_of(given: Mapping[str, Any], ranks: Ranks | None = None) -> dict[str, str]:
    return embedding_keys(embedded(given, ranks).statistics)


def embedded(given: Mapping[str, Any], ranks: Ranks | None = None) -> Prepared:
    config = resolve(ModelConfig.model_validate(given["config"]))
    data = prepare(config, given["dataset"], seed=42)
    found, _ = with_embeddings(data, config, 42, ranks or OneRank(), lambda _line: None)
    data.finish()
    return found


def vectors_of(given: Mapping[str, Any], ranks: Ranks | None = None) -> tuple[Any, dict[str, str]]:
    data = embedded(given, ranks)
    column = data.columns["review"].combine_chunks()
    return column.values.to_numpy().copy(), embedding_keys(data.statistics)


def _on_a_rank(given: Mapping[str, Any]) -> tuple[Any, dict[str, str], int]:
    rows: list[int] = []
    forward = Pretrained.forward

    def counting(self: Pretrained, columns: Any) -> torch.Tensor:
        rows.append(len(columns))
        return forward(self, columns)

    Pretrained.forward = counting  # type: ignore[method-assign]
    return *vectors_of(given, ProcessGroup(torch.device("cpu"))), sum(rows)


def test_two_ranks_share_the_work_and_have_the_vectors_of_one(copied: Path) -> None:
    given = cached(copied)
    given["config"]["input_features"][0]["encoder"]["reduce_output"] = "mean"
    frame = pd.read_parquet(copied / "rows.parquet")
    pd.concat([frame] * 3).to_parquet(copied / "rows.parquet")
    parts = on_ranks(2, _on_a_rank, given)
    shutil.rmtree(copied / ".trainwright_cache")
    alone, keys = vectors_of(given)
    assert sum(rows for _, _, rows in parts) == 600
    assert min(rows for _, _, rows in parts) > 100
    for found, own, _ in parts:
        assert own == keys
        assert np.array_equal(found, alone)


def test_a_dropped_row_has_no_embedding(copied: Path) -> None:
    given = cached(copied)
    given["config"]["input_features"][0]["preprocessing"]["missing_value_strategy"] = "drop_row"
    frame = pd.read_parquet(copied / "rows.parquet")
    frame.loc[[3, 77], "review"] = None
    frame.to_parquet(copied / "rows.parquet")
    data = embedded(given)
    assert np.flatnonzero(~data.valid).tolist() == [3, 77]
    assert data.columns["review"].null_count == 2


def test_float64_embeddings_are_stored_as_such(copied: Path) -> None:
    given = cached(copied)
    given["config"]["trainer"]["precision"] = "float64"
    first, again = vectors_of(given)[0], vectors_of(given)[0]
    assert first.dtype == again.dtype == np.float64
    assert np.array_equal(first, again)
    assert not np.array_equal(first, first.astype(np.float32))


class _After(StopRequest):
    """A request that comes after some steps."""

    def __init__(self, steps: int) -> None:
        super().__init__()
        self._left = steps

    def __bool__(self) -> bool:
        self._left -= 1
        if self._left < 0:
            self.reason = "the test"
        return super().__bool__()


def test_a_stopped_run_goes_on_to_the_same_bits(copied: Path, tmp_path: Path, passes: list[int]) -> None:
    given = cached(copied)
    train(given, output=tmp_path / "whole", quiet=True)
    _stopped(given, tmp_path / "parts")
    passes.clear()
    train(given, output=tmp_path / "parts", resume=True, quiet=True)
    assert passes == []
    whole, parts = (load_file(tmp_path / name / "model" / "weights.safetensors") for name in ("whole", "parts"))
    assert set(whole) == set(parts)
    for name, tensor in whole.items():
        assert torch.equal(tensor, parts[name]), name


def _stopped(given: Mapping[str, Any], output: Path) -> None:
    """A run that is stopped in its second epoch."""
    options = Options(output=str(output))
    with pytest.raises(StoppedRun):
        run("train", Path("job"), options, text=json.dumps(given), stop=_After(12), console=Console(quiet=True))


def test_a_run_does_not_go_on_with_other_weights(copied: Path, tmp_path: Path) -> None:
    given = cached(copied)
    _stopped(given, tmp_path / "parts")
    _changed_weight(copied)
    with pytest.raises(Mistakes, match="the encoder of 'review' has other weights than when this run began"):
        train(given, output=tmp_path / "parts", resume=True, quiet=True)


def test_inputs_that_share_an_encoder_cache_both_or_neither(copied: Path, tmp_path: Path) -> None:
    frame = pd.read_parquet(copied / "rows.parquet")
    frame.assign(answer=frame["review"][::-1].to_numpy()).to_parquet(copied / "rows.parquet")
    given = cached(copied)
    first = given["config"]["input_features"][0]
    given["config"]["input_features"].append({**first, "name": "answer", "tied": "review"})
    data = embedded(given)
    whole, other = (data.columns[name].combine_chunks().values.to_numpy() for name in ("review", "answer"))
    assert whole.reshape(200, -1)[::-1] == pytest.approx(other.reshape(200, -1), abs=1e-6)
    given["config"]["input_features"][1]["preprocessing"] = {}
    with pytest.raises(Mistakes, match=r"cache_encoder_embeddings: false, but true for 'review'"):
        train(given, output=tmp_path / "out", quiet=True)


def test_the_file_of_ludwigs_announcement_trains(copied: Path, tmp_path: Path) -> None:
    """Seed data of ours, the sections of the announcement of Ludwig 0.7."""
    given = cached(copied)
    given["config"]["combiner"] = {"type": "concat", "num_fc_layers": 1, "output_size": 8, "norm": "ghost"}
    given["config"]["trainer"] = {
        "epochs": 2,
        "batch_size": "auto",
        "learning_rate": 0.00002,
        "learning_rate_scheduler": {"warmup_fraction": 0.2, "decay": "linear"},
        "optimizer": {"type": "adamw"},
        "use_mixed_precision": True,
        "evaluate_training_set": False,
    }
    result = train(given, output=tmp_path / "out", quiet=True)
    assert result.outcome.kind == "done"
    scores = evaluate(given, model=tmp_path / "out", output=tmp_path / "scores", quiet=True)
    assert scores["late"] == pytest.approx(result.test["late"], abs=1e-6)


def test_a_reduction_that_is_trained_is_refused(home: Path, tmp_path: Path) -> None:
    with pytest.raises(Mistakes, match="cache_encoder_embeddings: true, but the encoder has weights that are trained"):
        train(cached(home, reduce_output="attention"), output=tmp_path / "out", quiet=True)


def test_cached_vectors_have_no_lengths_to_group_rows_by(home: Path, tmp_path: Path) -> None:
    given = cached(home)
    given["config"]["trainer"]["bucketing_field"] = "review"
    with pytest.raises(Mistakes, match="bucketing_field: 'review' has cached embeddings, which have one length"):
        train(given, output=tmp_path / "out", quiet=True)


def test_the_encoder_of_another_runs_model_has_priority(copied: Path, tmp_path: Path) -> None:
    source = job(copied, trainable=True)
    train(source, output=tmp_path / "source", quiet=True)
    given = {**cached(copied), "resumeFrom": str(tmp_path / "source" / "model")}
    train(given, output=tmp_path / "out", quiet=True)
    before, after = (load_file(tmp_path / name / "model" / "weights.safetensors") for name in ("source", "out"))
    own = [name for name in after if name.startswith("encoders.")]
    assert own
    assert all(torch.equal(before[name], after[name]) for name in own)
