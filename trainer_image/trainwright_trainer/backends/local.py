"""The backend `local`: this process on this machine, with its GPU if it has one."""

from __future__ import annotations

import os

import torch

from trainwright_trainer.distributed.rank_info import RankInfo
from trainwright_trainer.runtime.cpus import asked_threads, usable_cpus


def local(reserved: float | None = None, *, use_gpu: bool | None = None) -> RankInfo:
    """The rank info of this process. No other is started. `reserved`: its CPUs if it shares the machine."""
    device = "cuda" if use_gpu is not False and torch.cuda.is_available() else "cpu"
    return RankInfo(0, 1, device, usable_cpus(reserved), asked_threads(os.environ))
