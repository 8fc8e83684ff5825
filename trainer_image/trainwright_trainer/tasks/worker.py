"""One worker's part of a run: read → preprocess → load → train → evaluate, and on rank 0 save → report.

All ranks do the same, each on its rows. It knows no backend: it is given a seat and a way to the driver.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trainwright_trainer.backends.ray.messages import Channel
from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.distributed.rank_info import RankInfo
from trainwright_trainer.frames.pandas import reading_with
from trainwright_trainer.job.job import Job
from trainwright_trainer.rundir.attempt import Attempt
from trainwright_trainer.rundir.attempt_reference import AttemptReference, brought_up
from trainwright_trainer.runtime.cpus import usable_cpus
from trainwright_trainer.runtime.oom import reporting_oom
from trainwright_trainer.runtime.threads import Threads
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.strategies import strategy_for
from trainwright_trainer.strategies.interface import PeerLost, Strategy
from trainwright_trainer.tasks.remote_console import RemoteConsole
from trainwright_trainer.tasks.result import Result
from trainwright_trainer.tasks.train import Training, made_ready, threads_of
from trainwright_trainer.tasks.train_context import TrainContext
from trainwright_trainer.tasks.worker_result import Done, End, Failed


@dataclass(frozen=True)
class WorkerSpec:
    """What the workers are to do, and what of the driver's environment they have too."""

    job: Job
    environment: Mapping[str, str]


def work(order: WorkerSpec, seat: RankInfo, link: Channel) -> None:
    """Tells the driver how it ended. Raises `PeerLost` alone, after which all ranks are to begin again."""
    strategy = strategy_for(order.job.spec.backend.strategy, seat.world, seat.device)
    try:
        os.environ.update(order.environment)
        threads = threads_of(order.job, seat)
        with reporting_oom(), reading_with(threads.asked or usable_cpus()):
            end: End = Done(_trained(order.job, strategy, link, threads))
    except PeerLost:
        if not link.ended():
            raise
        return
    except Exception as error:  # the outermost edge of this process: whatever it is, the driver is told
        end = Failed.of(error)
    if seat.rank == 0 or isinstance(end, Failed):
        link.send("ended", (seat.rank, end))
    link.close()
    if isinstance(end, Failed):
        strategy.leave()


def _trained(job: Job, strategy: Strategy, link: Channel, threads: Threads) -> Result:
    screen = RemoteConsole(link)
    data = _prepared(job, strategy, screen)
    job, model, splits = made_ready(data, job, strategy.world)
    attempt = _attempt(job, strategy, link, data.content or None, screen)
    assert job.config is not None
    material = TrainContext(job.config, job, data, attempt, threads)
    training = Training(material, strategy, screen, _Asked(link), lambda: link.saves)
    return training.run(model, splits)


def _prepared(job: Job, strategy: Strategy, screen: RemoteConsole) -> Prepared:
    """Rank 0 first: where they share a cache, the others find there what it has written."""
    if strategy.rank:
        strategy.share(None)
    data = prepare(job.config, job.dataset, seed=job.spec.seed, cache_dir=job.cache_dir, keys=job.keys)
    if strategy.rank == 0:
        screen.tell([*data.notices, *data.finish()], Path(job.dataset).name)
        strategy.share(None)
    return data


def _attempt(job: Job, strategy: Strategy, link: Channel, content: str | None, screen: RemoteConsole) -> Attempt:
    """The driver takes the attempt's number; workers that begin again in it go on from its newest checkpoint."""
    storage = storage_at(str(job.output), job.keys.artifacts)
    begun = strategy.share(_begun(storage, link, content, screen) if strategy.rank == 0 else None)
    assert begun is not None
    return begun.attempt(storage)


def _begun(storage: Storage, link: Channel, content: str | None, screen: RemoteConsole) -> AttemptReference:
    answer: AttemptReference | Failed = link.ask("ready", content)
    if isinstance(answer, Failed):
        raise answer.error()
    begun, notices = brought_up(storage, answer)
    screen.say(*notices)
    return begun


class _Asked:
    """The driver's wish to stop."""

    def __init__(self, link: Channel) -> None:
        self._link = link

    @property
    def reason(self) -> str | None:
        """Another rank may have heard of it, and voted, before this one has."""
        return self._link.stop or self._link.look_for_stop()

    def __bool__(self) -> bool:
        return self._link.stop is not None
