"""The encoders of texts and sequences: the laws that hold for each of them, and a reference for some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
import torch

from trainwright_api.config.inputs_tokens import TextInput
from trainwright_api.problems import Mistakes
from trainwright_trainer.encoders import encoder_for
from trainwright_trainer.encoders.base import Encoder, EncoderInput
from trainwright_trainer.encoders.sequence_types import SEQUENCE_TYPES
from trainwright_trainer.loader.batch import Ragged

WORDS = ["<UNK>", *"abcdefghi"]
ROWS = [[1, 3, 2], [], [4], [0, 1, 2, 3, 9, 8, 7, 7, 1], [5, 6]]
SMALL: Mapping[str, Mapping[str, Any]] = {
    "passthrough": {"reduce_output": "sum"},
    "embed": {},
    "parallel_cnn": {"num_filters": 3, "num_fc_layers": 1, "output_size": 4},
    "stacked_cnn": {"num_filters": 3, "activation": "tanh", "num_fc_layers": 1, "output_size": 4},
    "stacked_parallel_cnn": {"num_filters": 3, "num_fc_layers": 1, "output_size": 4},
    "rnn": {"state_size": 3},
    "cnnrnn": {"num_filters": 3, "state_size": 3},
    "transformer": {"hidden_size": 4, "num_heads": 2, "transformer_output_size": 3, "dropout": 0.0},
}
_EMBEDDED = {"embedding_size": 4}
_HALF = {"strides": 2, "pool_size": 2}
VARIANTS = [
    *[(word, {}) for word in SMALL],
    *[(word, {"reduce_output": reduce}) for word in SMALL for reduce in ("concat", "max", "mean", "attention")],
    *[("rnn", {"cell_type": cell, "bidirectional": True, "num_layers": 2}) for cell in ("rnn", "lstm", "gru")],
    ("rnn", {"representation": "sparse", "num_fc_layers": 2}),
    ("parallel_cnn", {"conv_layers": [{"filter_size": 4, **_HALF}, _HALF]}),
    ("stacked_cnn", {"padding": "valid", "strides": 2, "num_conv_layers": 2, "pool_size": 2, "pool_padding": "valid"}),
    ("stacked_cnn", {"dilation_rate": 2, "num_conv_layers": 2, "pool_size": 3, "pool_function": "mean"}),
    ("stacked_cnn", {"norm": "layer", "num_conv_layers": 1}),
    ("cnnrnn", {"num_conv_layers": 1, "pool_strides": 1}),
]


def encoder(word: str, padding: str = "right", **fields: Any) -> Encoder:
    config = TextInput.model_validate(
        {
            "name": "x",
            "encoder": {"type": word, **({} if word == "passthrough" else _EMBEDDED), **SMALL[word], **fields},
        }
    ).encoder
    statistics = {"vocabulary": WORDS, "length": 9, "padding": padding}
    feature = EncoderInput(statistics, 1, "config.input_features[0].encoder")
    torch.manual_seed(0)
    made = encoder_for("text", config, feature)
    for name, parameter in made.named_parameters():
        if "norm" not in name:
            torch.nn.init.normal_(parameter)
    return made.double().eval()


def ragged(rows: list[list[int]]) -> Ragged:
    flat = np.array([token for tokens in rows for token in tokens], np.int32)
    return Ragged.of(flat, np.cumsum([0, *map(len, rows)]))


def test_every_encoder_is_tested() -> None:
    assert set(SMALL) == set(SEQUENCE_TYPES)


@pytest.mark.parametrize("word", SMALL)
def test_without_a_reduction_the_result_is_the_sequence(word: str) -> None:
    layers = {"num_fc_layers": None} if word.endswith("cnn") else {}
    made = encoder(word, reduce_output=None, **layers)
    whole = made(ragged(ROWS))
    assert whole.values.shape[2] == made.output_size
    assert whole.values.shape[1] <= made.output_length
    for at, tokens in enumerate(ROWS):
        one, length = made(ragged([tokens])), int(whole.lengths[at])
        assert int(one.lengths[0]) == length
        torch.testing.assert_close(one.values[0, :length], whole.values[at, :length], rtol=1e-9, atol=1e-9)
        assert not whole.values[at, length:].any()


def test_layers_need_a_reduction() -> None:
    with pytest.raises(
        Mistakes, match=r"encoder.reduce_output: is null, and the fully connected layers take the reduced"
    ):
        encoder("rnn", reduce_output=None, num_fc_layers=1)


def test_tokens_pass_through_as_their_numbers() -> None:
    made = encoder("passthrough", reduce_output=None)
    assert made(ragged([[1, 3, 2], [4]])).values.squeeze(2).tolist() == [[1, 3, 2], [4, 0, 0]]
    with pytest.raises(Mistakes, match=r"encoder.encoding_size: is 3, and the steps have the width 1. Leave it out"):
        encoder("passthrough", encoding_size=3)


@pytest.mark.parametrize(("word", "fields"), VARIANTS)
def test_a_vector_does_not_depend_on_padding_and_neighbours(word: str, fields: Mapping[str, Any]) -> None:
    made = encoder(word, **fields)
    whole = made(ragged(ROWS))
    assert whole.shape == (len(ROWS), made.output_size)
    assert torch.isfinite(whole).all()
    for at, tokens in enumerate(ROWS):
        torch.testing.assert_close(made(ragged([tokens]))[0], whole[at], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("word", SMALL)
def test_float32_agrees_to_a_millionth(word: str) -> None:
    made = encoder(word)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(0.3)
    made = made.float()
    whole = made(ragged(ROWS))
    for at, tokens in enumerate(ROWS):
        torch.testing.assert_close(made(ragged([tokens]))[0], whole[at], rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("word", SMALL)
def test_every_token_has_an_effect(word: str) -> None:
    made = encoder(word, reduce_output="mean")
    for at in range(3):
        other = [4 if place == at else token for place, token in enumerate(ROWS[0])]
        assert not torch.allclose(made(ragged([other])), made(ragged([ROWS[0]])))


@pytest.mark.parametrize("word", [word for word in SMALL if word not in ("passthrough", "embed")])
def test_the_order_has_an_effect(word: str) -> None:
    made = encoder(word, reduce_output="mean")
    assert not torch.allclose(made(ragged([[1, 2, 3, 4]])), made(ragged([[4, 3, 2, 1]])))


@pytest.mark.parametrize("word", [word for word in SMALL if word != "passthrough"])
def test_no_rows_and_empty_rows_have_finite_gradients(word: str) -> None:
    for rows in ([], [[], []]):
        made = encoder(word)
        made(ragged(rows)).sum().backward()
        for name, parameter in made.named_parameters():
            assert parameter.grad is not None, name  # DDP waits for every gradient
            assert torch.isfinite(parameter.grad).all(), name


def test_embed_is_the_sum_of_the_embeddings() -> None:
    made = encoder("embed")
    table = dict(made.named_parameters())["embedding.table.weight"]
    assert torch.allclose(made(ragged(ROWS)), torch.stack([table[tokens].sum(0) for tokens in ROWS]))


def test_concat_puts_the_steps_side_by_side_and_the_padding_on_its_side() -> None:
    for padding, place in (("right", slice(0, 12)), ("left", slice(24, 36))):
        made = encoder("embed", padding, reduce_output="concat")
        table = dict(made.named_parameters())["embedding.table.weight"]
        (row,) = made(ragged([[1, 3, 2]]))
        assert made.output_size == 36
        assert torch.equal(row[place], table[[1, 3, 2]].flatten())
        assert int((row != 0).sum()) == 12


def test_the_usual_layers_are_those_of_ludwig() -> None:
    def shapes(word: str, **fields: Any) -> list[tuple[int, ...]]:
        made = encoder(word, num_filters=2, num_fc_layers=None, **fields)
        return [tuple(one.shape) for name, one in made.named_parameters() if name.endswith("weight")][1:]

    sizes = [(2, 4, size) for size in (2, 3, 4, 5)]
    assert shapes("parallel_cnn") == [*sizes, (512, 8), (256, 512)]
    assert shapes("stacked_cnn")[0] == (2, 4, 7)
    assert [shape[2] for shape in shapes("stacked_cnn")[:6]] == [7, 7, 3, 3, 3, 3]
    assert len(shapes("stacked_parallel_cnn")) == 14


def test_the_forget_gate_starts_open() -> None:
    config = {"type": "rnn", "cell_type": "lstm", "state_size": 2}
    feature = EncoderInput({"vocabulary": WORDS, "length": 9, "padding": "right"}, 1, "x")
    made = encoder_for("text", TextInput.model_validate({"name": "x", "encoder": config}).encoder, feature)
    weights = dict(made.named_parameters())
    assert weights["layers.0.cells.bias_ih_l0"].tolist() == [0, 0, 1, 1, 0, 0, 0, 0]
    recurrent = weights["layers.0.cells.weight_hh_l0"]
    for gate in recurrent.chunk(4):
        assert torch.allclose(gate @ gate.T, torch.eye(2), atol=1e-6)


def test_parallel_convolutions_of_different_lengths_are_refused() -> None:
    with pytest.raises(Mistakes, match=r"encoder.conv_layers: parallel convolutions have outputs of different lengths"):
        encoder("parallel_cnn", conv_layers=[{"strides": 2}, {}])


def test_batch_norm_counts_the_steps_alone() -> None:
    made = encoder("stacked_cnn", num_conv_layers=1, norm="batch", fc_layers=[{"norm": None}]).train()
    made(ragged([[1, 2], [3]]))
    first = {name: one.clone() for name, one in made.named_buffers()}
    made = encoder("stacked_cnn", num_conv_layers=1, norm="batch", fc_layers=[{"norm": None}]).train()
    made(ragged([[1, 2], [3], [], []]))
    for name, buffer in made.named_buffers():
        assert torch.equal(first[name], buffer), name
