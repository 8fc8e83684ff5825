"""The votes of ranks with GPUs, with a loss on the meta device. The tests of ranks and groups have those of CPUs."""

from __future__ import annotations

from collections.abc import Callable

import torch

from trainwright_trainer.distributed.ranks import OneRank
from trainwright_trainer.loop.step_agreement import LATE_STEPS, StepAgreement

LOSS = torch.zeros((), device="meta")


class TwoRanks(OneRank):
    """This rank's numbers are the sums: the other one votes for nothing. It counts the sums that are not read yet."""

    world = 2
    unread = 0

    def start_sum(self, own: torch.Tensor) -> Callable[[], torch.Tensor]:
        if not own.is_cpu:
            return lambda: own
        self.unread += 1

        def found() -> torch.Tensor:
            self.unread -= 1
            return own

        return found


def agreed(agreement: StepAgreement) -> tuple[bool, ...]:
    """The flags after one step."""
    agreement.start(LOSS)
    agreement.total()
    return agreement.agreed()


def test_votes_act_some_steps_later() -> None:
    ranks, votes = TwoRanks(), iter([(True, False), (False, True), *[(False, False)] * 9])
    agreement = StepAgreement(ranks, lambda: next(votes))
    found = [agreed(agreement) for _ in range(LATE_STEPS + 3)]
    assert found == [*[(False, False)] * LATE_STEPS, (True, False), (False, True), (False, False)]
    assert ranks.unread == LATE_STEPS


def test_votes_before_a_save_are_forgotten() -> None:
    ranks = TwoRanks()
    agreement = StepAgreement(ranks, lambda: (False, True))
    assert [agreed(agreement) for _ in range(LATE_STEPS + 1)][-1] == (False, True)
    assert agreement.forget_votes() == [(False, True)] * LATE_STEPS
    assert ranks.unread == 0
    assert agreement.forget_votes() == []
    assert agreement.agreed() == (False, False)
    assert [agreed(agreement) for _ in range(LATE_STEPS)] == [(False, False)] * LATE_STEPS
    assert agreed(agreement) == (False, True)
