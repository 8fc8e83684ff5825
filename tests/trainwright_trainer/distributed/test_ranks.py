from __future__ import annotations

import torch

from trainwright_trainer.distributed import ranks_of
from trainwright_trainer.distributed.rank_info import RankInfo
from trainwright_trainer.distributed.ranks import OneRank, sum_with_own_gradient
from trainwright_trainer.loop.step_agreement import StepAgreement


def test_a_process_alone_needs_no_group():
    ranks = ranks_of(RankInfo(0, 1, "cpu", 2))
    assert isinstance(ranks, OneRank)
    assert (ranks.rank, ranks.world, ranks.device.type) == (0, 1, "cpu")


def test_it_agrees_with_itself():
    answers = [(True, False)]
    assert StepAgreement(OneRank(), answers.pop).agreed() == (True, False)


def test_what_it_has_is_all_there_is():
    ranks, loss = OneRank(), torch.tensor([2.0])
    agreement = StepAgreement(ranks, tuple)
    agreement.start(loss[0], [torch.tensor([3.0, 4.0])])
    assert (agreement.total(), agreement.others().tolist()) == (2.0, [3.0, 4.0])
    assert sum_with_own_gradient(ranks, loss) is loss
    assert ranks.gather({"a": loss}) == [{"a": loss}]
    assert ranks.share("word") == "word"
    assert ranks.sum(loss) == ranks.start_sum(loss)() == loss
    assert ranks.stack(loss).tolist() == [[2.0]]
