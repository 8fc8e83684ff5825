"""Pretrained frozen encoders, found by name in the caches of their libraries, are better than random ones.

The models are those of `make tiny-models`, most of them with fewer steps; the rows are not those that they were made
with. The texts have few labels: where there are many, a random encoder is as good.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from testkit import tiny_models

ROOT = Path(__file__).resolve().parents[2]
STEPS = {"bert": 2_000, "llama": 150, "resnet": 150}
FEW_LABELS, MANY_LABELS = (0.1, 0.1, 0.8), (0.7, 0.1, 0.2)

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The models, and two tables: docstrings, and the digits that no model has seen."""
    home = tmp_path_factory.mktemp("tiny")
    for program, options in (
        ("docstrings/make_data.py", ["--most", "300", "--output", str(home / "docstrings.parquet")]),
        ("images/make_data.py", ["--output", str(home)]),
    ):
        subprocess.run([sys.executable, str(ROOT / "examples" / program), *options], check=True)
    rows = pd.read_csv(home / "digits.csv")
    rows[len(rows) // 2 :].to_csv(home / "digits.csv", index=False)
    for name in tiny_models.NAMES:
        [_] = tiny_models.make(home, home / "docstrings.parquet", STEPS[name], (name,))
    return home


def loss(home: Path, name: str, feature: Mapping[str, Any], target: str, data: str) -> float:
    """The loss on the test rows, of a frozen encoder and a linear layer.

    The run is offline, and finds its model through HF_HOME and TORCH_HOME.
    """
    key, labels = ("docstring", FEW_LABELS) if target == "library" else ("path", MANY_LABELS)
    split = {"type": "hash", "column": key, "probabilities": labels}
    config = {
        "input_features": [{"name": key, "preprocessing": {"cache_encoder_embeddings": True}, **feature}],
        "output_features": [{"name": target, "type": "category"}],
        "preprocessing": {"split": split},
        "trainer": {"epochs": 30, "batch_size": 32, "learning_rate": 0.003},
    }
    job = home / f"{name}.json"
    job.write_text(json.dumps({"dataset": str(home / data), "config": config}))
    homes = {"HF_HOME": str(home / "huggingface"), "TORCH_HOME": str(home / "torch"), "HF_HUB_OFFLINE": "1"}
    command = [sys.executable, "-m", "trainwright_trainer", "train", str(job), "--output", str(home / "out" / name)]
    done = subprocess.run(command, env={**os.environ, **homes}, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr + done.stdout
    end = json.loads((home / "out" / name / "metrics.json").read_text())["end"]
    return float(end["test"][target]["loss"])


@pytest.mark.parametrize("word", ["bert", "llama"])
def test_a_pretrained_text_model_is_better_than_a_random_one(word: str, home: Path) -> None:
    folder = random_copy(home, word)
    names = {"pretrained": f"trainwright/tiny-{word}", "random": str(folder)}
    found = {
        about: loss(home, f"{word}-{about}", with_model(name), "library", "docstrings.parquet")
        for about, name in names.items()
    }
    assert found["pretrained"] < found["random"] - 0.02, found


def with_model(name: str) -> dict[str, Any]:
    encoder = {"type": "auto_transformer", "pretrained_model_name_or_path": name, "reduce_output": "mean"}
    return {"type": "text", "encoder": encoder}


def random_copy(home: Path, word: str) -> Path:
    """A folder with the same tokenizer and configuration, and other weights."""
    import torch
    from transformers import AutoConfig, AutoModel

    [snapshot] = (home / "huggingface" / "hub" / f"models--trainwright--tiny-{word}" / "snapshots").iterdir()
    folder = home / f"random-{word}"
    shutil.copytree(snapshot, folder)
    torch.manual_seed(1)
    AutoModel.from_config(AutoConfig.from_pretrained(folder)).save_pretrained(folder)
    return folder


def test_a_pretrained_resnet_is_better_than_a_random_one(home: Path) -> None:
    preprocessing = {"height": 32, "width": 32, "standardize_image": "imagenet1k", "cache_encoder_embeddings": True}
    encoder = {"type": "resnet", "model_variant": 18, "trainable": False}
    found = {}
    for about, pretrained in (("pretrained", True), ("random", False)):
        own = {**encoder, "use_pretrained": pretrained}
        feature = {"type": "image", "encoder": own, "preprocessing": preprocessing}
        found[about] = loss(home, f"resnet-{about}", feature, "digit", "digits.csv")
    assert found["pretrained"] < found["random"] - 0.02, found
