"""The ranks of a training: their number, their devices, and the collectives between them."""

from __future__ import annotations

from trainwright_trainer.distributed.rank_info import RankInfo
from trainwright_trainer.distributed.ranks import OneRank, Ranks


def ranks_of(rank_info: RankInfo) -> Ranks:
    """The collectives of a process that a backend has started."""
    if rank_info.world == 1:
        return OneRank(rank_info.device)
    from trainwright_trainer.distributed.process_group import ProcessGroup  # a single process does not need the import

    return ProcessGroup(rank_info.device)
