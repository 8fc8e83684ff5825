from __future__ import annotations

import pytest
import torch

from trainwright_api.config.initializers import InitializerWord, NormalInitializer
from trainwright_api.problems import Mistakes
from trainwright_trainer.layers.initializers import FUNCTIONS, initializer_of


def test_every_word_of_the_contract_has_its_function() -> None:
    assert set(FUNCTIONS) == set(InitializerWord.__args__)


@pytest.mark.parametrize("word", sorted(set(FUNCTIONS) - {"dirac"}))
def test_a_word_alone_fills_a_matrix(word: InitializerWord) -> None:
    weights = torch.full((4, 3), torch.nan)
    initializer_of(word, weights, "config.combiner.weights_initializer").fill(weights)
    assert weights.isfinite().all()


def test_parameters_reach_the_function() -> None:
    weights = torch.empty(1000)
    initializer_of(NormalInitializer(mean=5.0, std=0.1), weights, "").fill(weights, torch.Generator().manual_seed(0))
    assert weights.mean() == pytest.approx(5, abs=0.02)
    assert weights.std() == pytest.approx(0.1, abs=0.02)


@pytest.mark.parametrize(("word", "shape"), [("orthogonal", (3,)), ("eye", (3,)), ("dirac", (3, 3))])
def test_a_shape_that_cannot_be_filled_is_a_mistake(word: InitializerWord, shape: tuple[int, ...]) -> None:
    with pytest.raises(Mistakes, match=rf"config\.combiner\.bias_initializer: '{word}' cannot fill"):
        initializer_of(word, torch.empty(shape), "config.combiner.bias_initializer")


@pytest.mark.parametrize("word", sorted(set(FUNCTIONS) - {"dirac"}))
def test_only_the_given_generator_is_used(word: InitializerWord) -> None:
    first, second = torch.empty(4, 3), torch.empty(4, 3)
    before = torch.get_rng_state()
    for weights in (first, second):
        initializer_of(word, weights, "").fill(weights, torch.Generator().manual_seed(1))
    assert torch.equal(first, second)
    assert torch.equal(torch.get_rng_state(), before)
