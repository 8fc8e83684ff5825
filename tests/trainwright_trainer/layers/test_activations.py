from __future__ import annotations

from torch import nn

from trainwright_api.schema.fields import ActivationWord
from trainwright_trainer.layers.activations import ACTIVATIONS, activation


def test_every_word_of_the_contract_has_its_function() -> None:
    assert set(ACTIVATIONS) == set(ActivationWord.__args__)


def test_words_become_modules_and_null_becomes_none() -> None:
    assert isinstance(activation("leakyRelu"), nn.LeakyReLU)
    assert activation(None) is None
