from __future__ import annotations

import torch

from trainwright_trainer.strategies.interface import Strategy
from trainwright_trainer.strategies.single import Single


def test_one_process_adds_up_its_own_gradients():
    strategy: Strategy = Single()
    weight = torch.nn.Parameter(torch.ones(2))
    strategy.backward((weight * 2).sum(), last=False)
    strategy.backward((weight * 3).sum(), last=True)
    assert weight.grad is not None
    assert weight.grad.tolist() == [5.0, 5.0]
    assert (strategy.rank, strategy.world, strategy.device.type) == (0, 1, "cpu")


def test_it_agrees_with_itself():
    assert Single().agree(True)
    assert not Single().agree(False)
