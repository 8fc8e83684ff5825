"""The laws of LoRA: only the adapter and the head are trained, and a saved model is whole, merged or not."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from trainwright_api.problems import Mistakes
from trainwright_trainer import evaluate, predict, train

from .test_pretrained_text import encoder, ragged
from .tiny_text import job, make_home

LORA = {"type": "lora", "r": 4, "dropout": 0.0}
PREFIX = "encoders.review.model."


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_home(tmp_path_factory.mktemp("models"))


def weights_of(run: Path) -> dict[str, torch.Tensor]:
    return load_file(run / "model" / "weights.safetensors")


@pytest.mark.parametrize("word", ["bert", "gpt2"])
@pytest.mark.parametrize("merges", [False, True])
def test_only_the_adapter_is_trained_and_the_saved_model_is_whole(
    word: str, merges: bool, home: Path, tmp_path: Path
) -> None:
    copied = Path(shutil.copytree(home, tmp_path / "home"))
    adapter = {**LORA, "postprocessor": {"merge_adapter_into_base_model": merges}}
    given = job(copied, word, adapter=adapter, reduce_output="mean")
    result = train(given, output=tmp_path / "out", quiet=True)
    stored = load_file(copied / word / "model.safetensors")
    shutil.rmtree(copied / word)
    found = weights_of(tmp_path / "out")
    own = {name.removeprefix(PREFIX): one for name, one in found.items() if name.startswith(PREFIX)}
    changed = {
        name for name, one in own.items() if not torch.equal(one, stored.get(name.replace(".base_layer", ""), one))
    }
    update = {name for name in own if ".lora_" in name}
    if merges:
        assert not update
        assert set(own) <= set(stored)
        assert changed == {name for name in own if name.endswith(("query.weight", "value.weight", "c_attn.weight"))}
        config = json.loads((tmp_path / "out" / "model" / "config.json").read_text())
        assert '"lora"' not in json.dumps(config)
    else:
        assert update
        assert changed == set()
        assert all(own[name].any() for name in update)
    scores = evaluate(given, model=tmp_path / "out", output=tmp_path / "scores", quiet=True)
    assert scores["late"] == pytest.approx(result.test["late"], abs=1e-6)


def test_a_merged_model_predicts_what_the_unmerged_one_does(home: Path, tmp_path: Path) -> None:
    found = []
    for merges in (False, True):
        adapter = {**LORA, "postprocessor": {"merge_adapter_into_base_model": merges}}
        out = tmp_path / str(merges)
        train(job(home, adapter=adapter), output=out, quiet=True)
        rows = pd.read_parquet(home / "rows.parquet")[:20]
        table = predict(dataset=rows, model=out, output=tmp_path / "a.parquet", quiet=True)
        found.append(table["late_probability"].to_numpy())
    assert found[1] == pytest.approx(found[0], abs=1e-6)


@pytest.mark.parametrize(
    "other",
    [
        {"r": 2},
        {"alpha": 3},
        {"dropout": 0.5},
        {"bias_type": "all"},
        {"bias_type": "lora_only"},
        {"use_rslora": True},
        {"target_modules": ["key"]},
    ],
)
def test_each_option_acts(other: dict[str, Any]) -> None:
    assert outcome(other) != outcome({})


def outcome(other: dict[str, Any]) -> tuple[float, list[str]]:
    made = encoder("bert", trainable=False, adapter={**LORA, **other}, hidden_dropout_prob=0.0).train()
    trained = [name for name, one in made.named_parameters() if one.requires_grad]
    torch.manual_seed(0)
    for name, one in made.named_parameters():
        if ".lora_B." in name:
            torch.nn.init.constant_(one, 0.1)
    torch.manual_seed(0)
    return float(made(ragged([[1, 3, 2], [4]]))[0, 0].detach()), trained


@pytest.mark.parametrize(
    ("adapter", "line"),
    [
        (
            {"target_modules": ["nothing"]},
            "adapter.target_modules: nothing: a bert has the modules query, key, value, dense",
        ),
        ({"use_dora": True}, "adapter.use_dora: not built yet"),
        ({"type": "ia3"}, "adapter.type: not built yet: ia3 (this version has lora)"),
        ({"pretrained_adapter_weights": "some/where"}, "adapter.pretrained_adapter_weights: not built yet"),
    ],
)
def test_a_mistake_is_one_line(adapter: dict[str, Any], line: str, home: Path, tmp_path: Path) -> None:
    own = {"type": "lora"} | adapter
    with pytest.raises(Mistakes) as mistakes:
        train(job(home, adapter=own), output=tmp_path / "out", quiet=True)
    assert line in str(mistakes.value)
    assert "\n" not in str(mistakes.value)
