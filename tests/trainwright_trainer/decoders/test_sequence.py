"""Taggers and generators: the steps of their logits, with targets and without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from trainwright_api.config import ModelConfig, resolve
from trainwright_api.problems import Mistakes
from trainwright_trainer.decoders.outputs import Outputs
from trainwright_trainer.layers.steps import Steps
from trainwright_trainer.loader.batch import Ragged

WORDS = {"vocabulary": ["<UNK>", "x", "y"], "counts": [0, 3, 5], "rows": 4, "missing": 0, "fill": None, "length": 4}
STATISTICS = {"w": WORDS, "n": {"encoded": {"mean": 0.0, "std": 1.0}}}
COMBINED = Steps(torch.randn(3, 4, 6, dtype=torch.float64), torch.tensor([4, 0, 2]))
COMBINED = COMBINED.with_values(COMBINED.values)
TAGGERS: list[dict[str, Any]] = [
    {"type": "tagger"},
    {"type": "tagger", "use_bias": False, "num_fc_layers": 1, "fc_output_size": 5, "fc_norm": "layer"},
    {"type": "tagger", "use_attention": True, "attention_embedding_size": 4, "attention_num_heads": 2},
]
GENERATORS = [
    {"type": "generator", "cell_type": cell, "num_layers": layers}
    for cell in ("rnn", "gru", "lstm")
    for layers in (1, 2)
]


def made(*features: dict[str, Any], length: int | None = 4) -> Outputs:
    encoder = {"type": "embed", "reduce_output": None}
    inputs = [{"name": "a", "type": "sequence", "encoder": encoder}]
    given = {"input_features": inputs, "combiner": "sequence_concat", "output_features": list(features)}
    outputs = Outputs(resolve(ModelConfig.model_validate(given)).output_features, STATISTICS, 6, length).double()
    torch.manual_seed(0)
    for parameter in outputs.parameters():
        torch.nn.init.normal_(parameter)
    return outputs


def words(decoder: dict[str, Any], length: int | None = 4, **fields: Any) -> Outputs:
    return made({"name": "w", "type": "sequence", "decoder": decoder, **fields}, length=length)


def ragged(*rows: list[int]) -> Ragged:
    flat = np.array([token for tokens in rows for token in tokens], np.int32)
    return Ragged.of(flat, np.cumsum([0, *map(len, rows)]))


@pytest.mark.parametrize("decoder", TAGGERS)
def test_a_tag_does_not_depend_on_padding_and_neighbours(decoder: dict[str, Any]) -> None:
    outputs = words(decoder)
    whole = outputs(COMBINED)["w"]
    assert (whole.values.shape, whole.lengths.tolist()) == ((3, 4, 3), [4, 0, 2])
    alone = outputs(Steps(COMBINED.values[2:, :2], COMBINED.lengths[2:]))["w"]
    torch.testing.assert_close(alone.values[0], whole.values[2, :2], rtol=1e-12, atol=1e-12)


def test_a_tagger_has_logits_for_each_token_of_a_target() -> None:
    outputs = words(TAGGERS[0])
    found = outputs(COMBINED, {"w": ragged([1], [2, 2, 1, 1, 2], [1, 2])})["w"]
    assert (found.values.shape, found.lengths.tolist()) == ((3, 5, 3), [1, 5, 2])
    torch.testing.assert_close(found.values[:, :4], outputs(COMBINED)["w"].values)
    nothing = outputs["w"].started(outputs["w"].head(torch.zeros(6, dtype=torch.float64)))
    torch.testing.assert_close(found.values[1], nothing.expand(5, -1))


@pytest.mark.parametrize(
    ("fields", "line"),
    [
        (
            {"length": None},
            r"output_features\[0\].decoder: a tagger gives each step of a sequence a token, and the comb",
        ),
        (
            {"decoder": {"type": "tagger", "fc_norm": "ghost", "num_fc_layers": 1}},
            "fc_norm: expected batch or layer for",
        ),
        ({"decoder": {"type": "tagger", "vocab_size": 7}}, "vocab_size: is 7, the model and the data make it 3"),
        ({"decoder": {"type": "tagger", "input_size": 7}}, "input_size: is 7, the model and the data make it 6"),
        ({"decoder": {"type": "generator", "vocab_size": 7}}, "vocab_size: is 7, the model and the data make it 3"),
        ({"decoder": {"type": "generator", "input_size": 7}}, "input_size: is 7, the model and the data make it 6"),
    ],
)
def test_what_does_not_fit_is_a_mistake(fields: dict[str, Any], line: str) -> None:
    with pytest.raises(Mistakes, match=line):
        words(**{"decoder": {"type": "tagger"}, **fields})


@pytest.mark.parametrize("decoder", GENERATORS)
def test_a_generator_predicts_what_it_gives_the_highest_logits_with_its_own_tokens_before(
    decoder: dict[str, Any],
) -> None:
    outputs = words(decoder, length=None)
    combined = torch.randn(40, 6, dtype=torch.float64)
    found = outputs(combined)["w"]
    tokens = [row[:length] for row, length in zip(found.values.argmax(2).tolist(), found.lengths.tolist(), strict=True)]
    assert len({len(row) for row in tokens}) > 1
    assert all(3 not in row for row in tokens)
    forced = outputs(combined, {"w": ragged(*tokens)})["w"]
    assert forced.lengths.tolist() == [len(row) + 1 for row in tokens]
    for at, row in enumerate(tokens):
        best = forced.values[at].argmax(1).tolist()
        assert best[: len(row)] == row
        assert len(row) == 4 or best[len(row)] == 3
        torch.testing.assert_close(forced.values[at, : len(row)], found.values[at, : len(row)], rtol=1e-9, atol=1e-9)
        alone = outputs(combined[at : at + 1])["w"]
        torch.testing.assert_close(alone.values[0, : len(row)], found.values[at, : len(row)], rtol=1e-9, atol=1e-9)


def test_the_true_tokens_before_a_token_matter_and_the_later_ones_do_not() -> None:
    outputs = words(GENERATORS[0], length=None)
    combined = torch.randn(1, 6, dtype=torch.float64)
    first, second = (outputs(combined, {"w": ragged(row)})["w"].values[0] for row in ([1, 2, 1], [1, 1, 1]))
    torch.testing.assert_close(first[:2], second[:2])
    assert not torch.allclose(first[2], second[2])


def test_a_generator_reduces_a_sequence_as_the_output_says_or_as_its_own_section_says() -> None:
    for fields, word in (({"reduce_input": "max"}, "max"), ({"reduce_input": None}, "mean")):
        decoder = {"type": "generator", "reduce_input": "mean"}
        outputs = words(decoder, **fields)
        summed = made({"name": "n", "type": "number", "reduce_input": word})["n"].source(COMBINED, {})
        torch.testing.assert_close(outputs["w"].source(COMBINED, {}), summed)


@pytest.mark.parametrize("decoder", [*TAGGERS, *GENERATORS])
def test_no_rows_have_gradients_of_zero(decoder: dict[str, Any]) -> None:
    outputs = words(decoder)
    nothing = Steps(COMBINED.values[:0], COMBINED.lengths[:0])
    found = outputs(nothing, {"w": ragged()})["w"]
    assert len(found.values) == 0
    found.values.sum().backward()
    for name, parameter in outputs.named_parameters():
        assert parameter.grad is not None, name
        assert not parameter.grad.any(), name


def test_an_output_reduces_the_hidden_states_of_a_tagger() -> None:
    tagger = {"name": "w", "type": "sequence", "decoder": TAGGERS[1]}
    for word, width in (("mean", 5), ("concat", 20)):
        number = {"name": "n", "type": "number", "dependencies": ["w"], "reduce_dependencies": word}
        outputs = made(tagger, number)
        assert outputs["n"].head.weight.shape == (1, 6 + width)
        hidden = outputs["w"].hidden(COMBINED)
        source = outputs["n"].source(COMBINED, {"w": hidden})
        if word == "mean":
            torch.testing.assert_close(source[2, 6:], hidden.values[2, :2].mean(0))
    with pytest.raises(Mistakes, match="reduce_dependencies: 'w' has a hidden state for each step, and 'n' takes one"):
        made(tagger, {"name": "n", "type": "number", "dependencies": ["w"], "reduce_dependencies": None})


def test_a_tagger_sees_the_vector_of_another_output_at_each_step() -> None:
    number = {"name": "n", "type": "number", "decoder": {"num_fc_layers": 1, "fc_output_size": 2, "type": "regressor"}}
    outputs = made(number, {"name": "w", "type": "text", "decoder": TAGGERS[0], "dependencies": ["n"]})
    hidden = outputs["n"].hidden(outputs["n"].source(COMBINED, {}))
    source = outputs["w"].source(COMBINED, {"n": hidden})
    assert source.values.shape == (3, 4, 8)
    torch.testing.assert_close(source.values[0, 3, 6:], hidden[0])
    assert not source.values[2, 2:].any()
