from __future__ import annotations

import pytest
import torch

from trainwright_api.config.encoders import CategoryDenseEncoder, CategoryOneHotEncoder, CategorySparseEncoder
from trainwright_trainer.encoders import EncoderInput
from trainwright_trainer.encoders.category import Embedded, OneHot, sparse
from trainwright_trainer.layers.linear_products import Lookup

LABELS = EncoderInput({"vocabulary": ["<UNK>", "a", "b"]}, 1, "config.input_features[0].encoder")
COLUMN = torch.tensor([[2], [0]])


def test_dense_has_a_row_for_each_label_and_is_at_most_as_wide_as_there_are_labels() -> None:
    encoder = Embedded(CategoryDenseEncoder(embedding_size=50), LABELS)
    assert encoder.table.weight.shape == (3, 3)
    assert encoder.output_size == 3
    assert torch.equal(encoder(COLUMN), encoder.table.weight[[2, 0]])
    assert Embedded(CategoryDenseEncoder(embedding_size=2), LABELS).output_size == 2


def test_dense_can_be_frozen_and_initialised() -> None:
    encoder = Embedded(CategoryDenseEncoder(embeddings_trainable=False, embedding_initializer="zeros"), LABELS)
    assert not encoder.table.weight.requires_grad
    assert (encoder.table.weight == 0).all()


def test_dropout_acts_in_training_alone() -> None:
    encoder = Embedded(CategoryDenseEncoder(dropout=0.5, embedding_initializer="ones"), LABELS)
    assert set(encoder(COLUMN.repeat(50, 1)).unique().tolist()) == {0, 2}
    assert set(encoder.eval()(COLUMN).unique().tolist()) == {1}


def test_onehot_is_of_the_models_dtype() -> None:
    encoder = OneHot(CategoryOneHotEncoder(), LABELS).double()
    assert encoder(COLUMN).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert encoder(COLUMN).dtype == torch.float64


def test_sparse_is_one_column_a_label_and_not_trained() -> None:
    encoder = sparse(CategorySparseEncoder(), LABELS)
    assert encoder(COLUMN).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert not list(encoder.parameters())


def test_sparse_has_a_table_where_it_is_trained_or_begins_elsewhere() -> None:
    trained = sparse(CategorySparseEncoder(embeddings_trainable=True), LABELS)
    assert torch.equal(next(trained.parameters()), torch.eye(3))
    elsewhere = sparse(CategorySparseEncoder(embedding_initializer="ones"), LABELS)
    (weight,) = elsewhere.parameters()
    assert (weight == 1).all()
    assert not weight.requires_grad


def test_sparse_drops_out() -> None:
    encoder = sparse(CategorySparseEncoder(dropout=0.5), LABELS)
    assert set(encoder(COLUMN.repeat(50, 1)).unique().tolist()) == {0, 2}


@pytest.mark.parametrize("config", [CategoryDenseEncoder(embedding_size=2, dropout=0.5), CategoryOneHotEncoder()])
def test_a_lookup_has_the_same_rows(config: CategoryDenseEncoder | CategoryOneHotEncoder) -> None:
    kind = Embedded if isinstance(config, CategoryDenseEncoder) else OneHot
    encoder, many = kind(config, LABELS).double().eval(), torch.tensor([[2], [0], [1], [2]])
    found = encoder.lookup(many)
    assert isinstance(found, Lookup)
    assert torch.equal(found.rows, encoder(many))
    assert torch.equal(encoder.lookup(COLUMN), encoder(COLUMN))  # fewer rows than labels


def test_dropout_needs_the_rows() -> None:
    encoder = Embedded(CategoryDenseEncoder(dropout=0.5, embedding_initializer="ones"), LABELS)
    assert set(encoder.lookup(COLUMN.repeat(50, 1)).unique().tolist()) == {0, 2}
