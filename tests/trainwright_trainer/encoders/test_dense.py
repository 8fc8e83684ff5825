from __future__ import annotations

import pytest
import torch

from trainwright_api.config.encoders import DenseEncoder
from trainwright_api.problems import Mistakes
from trainwright_trainer.encoders import EncoderInput
from trainwright_trainer.encoders.dense import Dense

VECTOR = EncoderInput({"size": 3}, 3, "config.input_features[0].encoder")


def test_it_is_a_stack_with_num_layers() -> None:
    encoder = Dense(DenseEncoder(num_layers=2, output_size=4), VECTOR)
    assert encoder.output_size == 4
    assert encoder(torch.randn(5, 3)).shape == (5, 4)
    assert len(encoder.stack.layers) == 2


def test_an_input_size_must_be_the_features() -> None:
    Dense(DenseEncoder(input_size=3), VECTOR)
    with pytest.raises(Mistakes, match=r"config\.input_features\[0\]\.encoder\.input_size: is 2, the feature has 3"):
        Dense(DenseEncoder(input_size=2), VECTOR)
