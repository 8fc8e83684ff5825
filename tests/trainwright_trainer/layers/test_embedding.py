from __future__ import annotations

import torch

from trainwright_trainer.layers.embedding import Embedding


def test_a_table_is_never_wider_than_long() -> None:
    assert Embedding(7, 50, None, "").weight.shape == (7, 7)
    assert Embedding(70, 50, None, "").weight.shape == (70, 50)


def test_an_exact_width_is_kept() -> None:
    assert Embedding(2, 5, None, "", is_exact=True).weight.shape == (2, 5)


def test_values_begin_between_minus_one_and_one_where_nothing_is_named() -> None:
    weight = Embedding(100, 50, None, "").weight
    assert weight.min() >= -1
    assert weight.max() <= 1
    assert weight.std() > 0.5


def test_an_initializer_is_followed() -> None:
    assert (Embedding(3, 2, "ones", "").weight == 1).all()


def test_rows_are_looked_up() -> None:
    table = Embedding(3, 3, "identity", "", trainable=False)
    assert table(torch.tensor([2, 0])).tolist() == [[0, 0, 1], [1, 0, 0]]
    assert not table.weight.requires_grad
