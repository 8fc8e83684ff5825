from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from trainwright_api.config.encoders.bag import BagEmbedEncoder, SetEmbedEncoder
from trainwright_api.problems import Mistakes
from trainwright_trainer.encoders.base import EncoderInput
from trainwright_trainer.encoders.set import SetEmbedded
from trainwright_trainer.loader.batch import Batch, Ragged

from .test_inputs import inputs

SETS = [[1, 3], [], [2], [0, 1, 2, 3]]


def encoder(**fields: Any) -> SetEmbedded:
    feature = EncoderInput({"vocabulary": ["<UNK>", "a", "b", "c"]}, 1, "config.input_features[0].encoder")
    made = SetEmbedded(SetEmbedEncoder.model_validate(fields), feature)
    torch.manual_seed(0)
    for parameter in made.parameters():
        torch.nn.init.uniform_(parameter)
    return made.double()


def ragged(sets: list[list[int]]) -> Ragged:
    flat = np.array([token for tokens in sets for token in tokens], np.int32)
    return Ragged.of(flat, np.cumsum([0, *map(len, sets)]))


def test_a_set_is_the_sum_of_its_tokens() -> None:
    made = encoder(embedding_size=3)
    assert made.output_size == 3
    rows = torch.stack([made.table.weight[tokens].sum(0) for tokens in SETS])
    assert torch.allclose(made(ragged(SETS)), rows, rtol=1e-15)


def test_a_bag_adds_a_token_as_often_as_it_occurs_and_can_have_any_width() -> None:
    feature = EncoderInput({"vocabulary": ["<UNK>", "a"]}, 1, "config.input_features[0].encoder")
    for forced, width in ((False, 2), (True, 7)):
        config = BagEmbedEncoder.model_validate({"embedding_size": 7, "force_embedding_size": forced})
        made = SetEmbedded(config, feature)
        assert made.output_size == width
        torch.nn.init.uniform_(made.table.weight)
        torch.testing.assert_close(made(ragged([[0, 1, 1]]))[0], made.table.weight[0] + 2 * made.table.weight[1])


def test_the_vector_of_a_row_does_not_depend_on_its_neighbours() -> None:
    for made in (encoder(embedding_size=3), encoder(representation="sparse")):
        whole = made(ragged(SETS * 50))
        for at, tokens in enumerate(SETS):
            assert torch.equal(made(ragged([tokens]))[0], whole[at])


def test_no_rows_and_no_tokens_have_gradients_of_zero() -> None:
    for sets in ([], [[], []]):
        made = encoder(embedding_size=2)
        made(ragged(sets)).sum().backward()
        assert made.table.weight.grad.tolist() == [[0.0, 0.0]] * 4


def test_sparse_is_one_column_a_token_and_not_trained() -> None:
    made = encoder(representation="sparse", embedding_size=2)
    assert (made.output_size, list(made.parameters())) == (4, [])
    assert made(ragged(SETS)).tolist() == [[0, 1, 0, 1], [0, 0, 0, 0], [0, 0, 1, 0], [1, 1, 1, 1]]


def test_it_can_be_frozen_and_has_layers() -> None:
    made = encoder(embeddings_trainable=False, num_fc_layers=1, output_size=5)
    assert made(ragged(SETS)).shape == (4, 5)
    assert [name for name, one in made.named_parameters() if not one.requires_grad] == ["table.weight"]


def test_sets_can_share_an_encoder() -> None:
    encoders, _ = inputs({"name": "c", "type": "set"}, {"name": "d", "type": "set", "tied": "c"})
    torch.nn.init.uniform_(encoders["c"].table.weight)
    batch = Batch(torch.empty(1, 0), torch.empty(1, 0), np.arange(1), (ragged([[1, 2]]), ragged([[1, 3]])))
    first, second = encoders(batch)  # {a, b} in both vocabularies
    assert torch.equal(first, second)


def test_a_set_is_not_skipped() -> None:
    with pytest.raises(Mistakes, match=r"config.input_features\[0\].encoder.skip: a set has no fixed width"):
        inputs({"name": "c", "type": "set", "encoder": {"type": "embed", "skip": True}})
