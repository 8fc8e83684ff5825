from __future__ import annotations

import torch

from trainwright_trainer.strategies.interface import Strategy
from trainwright_trainer.strategies.single import Single


def test_one_process_adds_up_its_own_gradients():
    strategy: Strategy = Single()
    weight = torch.nn.Parameter(torch.ones(2))
    strategy.backward((weight * 2).sum())
    strategy.backward((weight * 3).sum())
    assert weight.grad is not None
    assert weight.grad.tolist() == [5.0, 5.0]
    assert (strategy.rank, strategy.world, strategy.device.type) == (0, 1, "cpu")


def test_it_agrees_with_itself():
    strategy, answers = Single(), [(True, False)]
    strategy.vote(answers.pop)
    assert strategy.agreed() == (True, False)


def test_what_it_has_is_all_there_is():
    strategy, loss = Single(), torch.tensor(2.0)
    assert strategy.total(loss) is strategy.whole(loss) is loss
    assert strategy.gather({"a": loss}) == [{"a": loss}]
    assert strategy.share("word") == "word"
