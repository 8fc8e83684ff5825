"""The laws of the text encoders of the transformers library, with tiny models made here. Nothing is fetched."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from safetensors.torch import load_file

from trainwright_api.config.inputs_tokens import TextInput
from trainwright_api.problems import Mistakes
from trainwright_trainer import evaluate, predict, train
from trainwright_trainer.encoders.base import Encoder, EncoderInput
from trainwright_trainer.encoders.pretrained import Pretrained
from trainwright_trainer.encoders.text_models import FAMILIES
from trainwright_trainer.loader.batch import Ragged

from .parity_job import Case
from .test_combiners import assert_one_curve
from .tiny_text import BERT, SMALL, job, make_home

ROWS = [[1, 3, 2], [], [4], [5, 6, 2, 3, 9, 8, 7, 7, 1]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_home(tmp_path_factory.mktemp("models"))


def encoder(word: str, padding: str = "right", **fields: Any) -> Encoder:
    given = {"use_pretrained": False, **SMALL[word], "reduce_output": "mean", "trainable": True, **fields}
    if word in ("roberta", "xlmroberta"):
        given = {key: value for key, value in given.items() if key not in BERT}
    config = TextInput.model_validate({"name": "x", "encoder": {"type": word, **given}}).encoder
    statistics = {"vocabulary": list("abcdefghij"), "length": 9, "padding": padding}
    made = Pretrained(config, EncoderInput(statistics, 1, "config.input_features[0].encoder"))
    generator = torch.Generator().manual_seed(0)
    for name, initializer in made.initializers.items():
        values = torch.empty(made.get_parameter(name).shape)
        initializer.fill(values, generator)
        owner, _, local = name.rpartition(".")
        trained = made.get_parameter(name).requires_grad
        setattr(made.get_submodule(owner), local, torch.nn.Parameter(values, requires_grad=trained))
    return made.double().eval()


def test_padding_is_on_the_side_of_the_preprocessing() -> None:
    sides = ("right", "left")
    right, left = (encoder("bert", side, reduce_output="concat")(ragged([[1, 3, 2]]))[0] for side in sides)
    assert right.shape == (72,)
    assert torch.equal(right[:24], left[48:])
    assert not right[24:].any()
    assert not left[:48].any()


def ragged(rows: list[list[int]]) -> Ragged:
    return Ragged.of(np.array([token for row in rows for token in row], np.int32), np.cumsum([0, *map(len, rows)]))


def test_every_family_is_tested() -> None:
    assert set(SMALL) == set(FAMILIES)


def stored_tensor(folder: Path, name: str) -> torch.Tensor:
    """The tensor of a tiny model's file. That of an encoder and a decoder has them by other names."""
    stored = load_file(folder / "model.safetensors")
    return stored[next(one for one in (name, f"encoder.{name}", "shared.weight") if one in stored)]


CORE = ("bert", "gpt2", "t5")
EACH = [pytest.param(word, marks=() if word in CORE else pytest.mark.slow) for word in FAMILIES]
BY_SECTION = [word for word in FAMILIES if word not in ("longformer", "roberta", "xlmroberta")]
"""The families whose sections have the sizes of a model."""


@pytest.mark.parametrize("word", BY_SECTION)
def test_a_vector_does_not_depend_on_padding_and_neighbours(word: str) -> None:
    made = encoder(word)
    whole = made(ragged(ROWS))
    assert torch.isfinite(whole).all()
    for at, tokens in enumerate(ROWS):
        torch.testing.assert_close(made(ragged([tokens]))[0], whole[at], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("word", BY_SECTION)
def test_each_trained_parameter_has_a_gradient(word: str) -> None:
    """DDP waits for the gradient of each."""
    made = encoder(word).train()
    made(ragged(ROWS)).square().sum().backward()
    trained = {name: one for name, one in made.named_parameters() if one.requires_grad}
    assert trained
    assert [name for name, one in trained.items() if one.grad is None] == []


@pytest.mark.parametrize("word", EACH)
def test_a_frozen_model_keeps_every_bit_and_a_saved_model_needs_no_folder(
    word: str, home: Path, tmp_path: Path
) -> None:
    copied = tmp_path / "home"
    shutil.copytree(home, copied)
    result = train(job(copied, word, reduce_output="mean"), output=tmp_path / "out", quiet=True)
    weights = load_file(tmp_path / "out" / "model" / "weights.safetensors")
    own = {name: one for name, one in weights.items() if name.startswith("encoders.review.model.")}
    assert own
    for name, value in own.items():
        assert torch.equal(value, stored_tensor(copied / word, name.removeprefix("encoders.review.model."))), name
    shutil.rmtree(copied / word)
    frame = pd.read_parquet(home / "rows.parquet")
    whole = predict(dataset=frame, model=tmp_path / "out", output=tmp_path / "a.parquet", quiet=True)
    some = predict(dataset=frame[7:9], model=tmp_path / "out", output=tmp_path / "b.parquet", quiet=True)
    expected = whole["late_probability"].to_numpy()[7:9]
    assert some["late_probability"].to_numpy() == pytest.approx(expected, abs=1e-6)
    assert 0 < result.test["late"]["accuracy"] <= 1


def test_a_trained_model_learns_and_is_evaluated_alike(home: Path, tmp_path: Path) -> None:
    given = job(home, trainable=True)
    given["config"]["trainer"]["epochs"] = 15
    result = train(given, output=tmp_path / "out", quiet=True)
    assert result.test["late"]["accuracy"] > 0.9
    scores = evaluate(given, model=tmp_path / "out", output=tmp_path / "scores", quiet=True)
    assert scores["late"] == pytest.approx(result.test["late"], abs=1e-6)
    weights = load_file(tmp_path / "out" / "model" / "weights.safetensors")
    stored = load_file(home / "bert" / "model.safetensors")
    name = "embeddings.word_embeddings.weight"
    assert not torch.equal(weights[f"encoders.review.model.{name}"], stored[name])


def test_two_workers_have_the_curve_of_one_process() -> None:
    own = {"type": "bert", **BERT, "use_pretrained": False, "trainable": True, "vocab_size": 4}
    own |= {"hidden_dropout_prob": 0.0, "attention_probs_dropout_prob": 0.0}
    tags = {"type": "text", "encoder": own, "preprocessing": {"tokenizer": "space"}}
    fixed = {"effective_batch_size": 66, "batch_size": 22, "early_stop": -1, "train_steps": 20, "learning_rate": 0.003}
    assert_one_curve([replace(Case(fixed), tags=tags)], 2)


def test_a_change_of_the_tokenizer_is_no_hit_of_the_cache(home: Path, tmp_path: Path) -> None:
    copied = tmp_path / "home"
    shutil.copytree(home, copied)
    train(job(copied), output=tmp_path / "one", quiet=True)
    file = copied / "bert" / "tokenizer.json"
    file.write_text(file.read_text().replace('"good"', '"evil"'))
    train(job(copied), output=tmp_path / "two", quiet=True)
    statistics = [(tmp_path / name / "model" / "statistics.json").read_text() for name in ("one", "two")]
    assert "evil" not in statistics[0]
    assert "evil" in statistics[1]


@pytest.mark.parametrize(
    ("encoder", "line"),
    [
        ({"pretrained_model_name_or_path": "no/such"}, "there is no model 'no/such' in"),
        ({"hidden_size": 16}, "hidden_size: 16: the pretrained model has its own"),
        ({"reduce_output": None}, "reduce_output: is null, and combiner 'concat' takes one vector"),
    ],
)
def test_a_mistake_is_one_line(encoder: dict[str, Any], line: str, home: Path, tmp_path: Path) -> None:
    with pytest.raises(Mistakes) as mistakes:
        train(job(home, **encoder), output=tmp_path / "out", quiet=True)
    assert line in str(mistakes.value)
    assert "\n" not in str(mistakes.value)


def test_rows_without_a_token_are_counted_and_truncated_ones_too(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    frame = pd.read_parquet(home / "rows.parquet")
    frame.loc[:4, "review"] = ["", "  ", None, "good " * 99, "bad"]
    empty = int((frame["review"].str.strip() == "").sum())
    frame.to_parquet(tmp_path / "rows.parquet")
    train({**job(home), "dataset": str(tmp_path / "rows.parquet")}, output=tmp_path / "out")
    lines = capsys.readouterr().out
    assert f"column 'review': rows without a token: {empty}\n" in lines
    assert "column 'review': rows of more than 16 tokens, whose other tokens are left out: 1\n" in lines


@pytest.mark.parametrize(
    ("word", "fields", "line"),
    [
        ("bert", {"hidden_size": 7}, r"The hidden size \(7\) is not a multiple"),
        ("xlnet", {"d_model": 7}, "'d_model % n_head'"),
        ("longformer", {"attention_window": 3}, "even value"),
        ("t5", {"relative_attention_num_buckets": 1}, "division by zero"),
    ],
)
def test_sizes_that_fit_no_model_are_one_line(word: str, fields: dict[str, Any], line: str) -> None:
    with pytest.raises(Mistakes, match=f"encoder: the library cannot build this model: .*{line}") as mistakes:
        encoder(word, **fields)
    assert "\n" not in str(mistakes.value)


def test_a_model_without_pooling_has_no_pooled_output(home: Path, tmp_path: Path) -> None:
    with pytest.raises(Mistakes, match="reduce_output: cls_pooled: a distilbert has no pooled output"):
        train(job(home, "distilbert", reduce_output="cls_pooled"), output=tmp_path / "out", quiet=True)
