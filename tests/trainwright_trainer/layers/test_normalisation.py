from __future__ import annotations

import pytest
from torch import nn

from trainwright_api.config.layers import NormParams
from trainwright_api.problems import Mistakes
from trainwright_trainer.layers.batch_norm import BatchNorm
from trainwright_trainer.layers.ghost_norm import GhostNorm
from trainwright_trainer.layers.normalisation import NormBatches, norm, norm_batches


def test_words() -> None:
    assert norm(None, 3, None) is None
    assert isinstance(norm("batch", 3, NormParams(momentum=0.5)), BatchNorm)
    layer = norm("layer", 3, NormParams(eps=0.1))
    assert isinstance(layer, nn.LayerNorm)
    assert layer.eps == 0.1
    ghost = norm("ghost", 3, NormParams(epsilon=0.1, virtual_batch_size=7))
    assert isinstance(ghost, GhostNorm)
    assert (ghost.eps, ghost.momentum, ghost.virtual_rows) == (0.1, 0.05, 7)


def test_the_batches_of_a_model() -> None:
    ghosts = [GhostNorm(3, virtual_batch_size=7), GhostNorm(2, virtual_batch_size=7)]
    assert norm_batches(nn.Sequential(nn.LayerNorm(3))) == NormBatches()
    assert norm_batches(nn.Sequential(BatchNorm(3))) == NormBatches(whole=True)
    assert norm_batches(nn.Sequential(*ghosts)) == NormBatches(virtual=7)
    assert norm_batches(nn.Sequential(*ghosts, BatchNorm(3))) == NormBatches(whole=True, virtual=7)


def test_virtual_batches_of_two_sizes_are_refused() -> None:
    model = nn.Sequential(GhostNorm(3), GhostNorm(3, virtual_batch_size=7))
    with pytest.raises(Mistakes, match=r"virtual_batch_size 7 and 128 \(default: 128\): give all of them the same"):
        norm_batches(model)
