"""The run in one worker: read → preprocess → load → train → evaluate, and on rank 0 save → report.

All ranks do the same, each on its own rows. The code is independent of the backend: it gets a rank info and a channel
to the driver.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from trainwright_api.resource.backend import Processor as ProcessorSection
from trainwright_trainer.backends.ray.messages import Channel
from trainwright_trainer.callbacks.console import notice_lines
from trainwright_trainer.callbacks.events import Evaluated, Event, Stepped
from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.distributed import ranks_of
from trainwright_trainer.distributed.process_group import raising_peer_lost
from trainwright_trainer.distributed.rank_info import RankInfo
from trainwright_trainer.distributed.ranks import PeerLost, Ranks
from trainwright_trainer.errors import Outcome
from trainwright_trainer.frames.interface import Processor
from trainwright_trainer.frames.pandas import reading_with
from trainwright_trainer.job.job import Job
from trainwright_trainer.rundir.attempt import Attempt, AttemptReference, brought_up
from trainwright_trainer.runtime.allocator import keep_memory_between_steps
from trainwright_trainer.runtime.cpus import usable_cpus
from trainwright_trainer.runtime.oom import reporting_oom
from trainwright_trainer.runtime.threads import Threads
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.tasks.job_data import prepare_data
from trainwright_trainer.tasks.lifecycle import attempt_of
from trainwright_trainer.tasks.resolve import TrainContext
from trainwright_trainer.tasks.result import Result
from trainwright_trainer.tasks.train import Training, prepare_training, threads_of

EVERY_SECONDS = 0.1
"""Minimum time between two step events that are sent. A console does not show more of them."""


@dataclass(frozen=True)
class WorkerSpec:
    """The job of the workers, and the variables of the driver's environment that they inherit.

    `processor_of` makes the processor in the worker.
    """

    job: Job
    environment: Mapping[str, str]
    processor_of: Callable[[ProcessorSection], Processor]


def work(spec: WorkerSpec, rank_info: RankInfo, channel: Channel) -> None:
    """Run the job and report its end to the driver. Raises only `PeerLost`, after which all ranks have to restart."""
    keep_memory_between_steps()
    ranks = ranks_of(rank_info)
    try:
        os.environ.update(spec.environment)
        threads = threads_of(spec.job, rank_info)
        # Engines exchange parameters in places that do not convert errors, such as the forward passes of an evaluation.
        with reporting_oom(), reading_with(threads.asked or usable_cpus()), raising_peer_lost():
            end: Result | Outcome = _trained(spec, ranks, channel, threads)
    except PeerLost:
        if not channel.ended():
            raise
        return
    except Exception as error:  # the outermost edge of this process: every error is reported to the driver
        end = Outcome.traced(error)
    if rank_info.rank == 0 or isinstance(end, Outcome):
        channel.send("ended", (rank_info.rank, end))
    channel.close()
    if isinstance(end, Outcome):
        ranks.abort()


def _trained(spec: WorkerSpec, ranks: Ranks, channel: Channel, threads: Threads) -> Result:
    console = RemoteConsole(channel)
    data = _prepared(spec, ranks, console)
    job, data, model, parts = prepare_training(data, spec.job, ranks, console.log)
    attempt = _attempt(job, ranks, channel, data.content or None, console)
    assert job.config is not None
    context = TrainContext(job.config, job, data, attempt, threads)
    training = Training(context, ranks, console, _DriverStop(channel), lambda: channel.saves)
    return training.run(model, parts)


def _prepared(spec: WorkerSpec, ranks: Ranks, console: RemoteConsole) -> Prepared:
    """Rank 0 preprocesses first. If the ranks share a cache, the others read what rank 0 has written."""
    if ranks.rank:
        ranks.share(None)
    else:
        console.log(f"workers started; reading {spec.job.shown_dataset}")
    data = prepare_data(spec.job, spec.processor_of(spec.job.spec.backend.processor))
    if ranks.rank == 0:
        console.log_notices([*data.notices, *data.finish()], Path(spec.job.shown_dataset).name)
        ranks.share(None)
    return data


def _attempt(job: Job, ranks: Ranks, channel: Channel, content: str | None, console: RemoteConsole) -> Attempt:
    """The attempt, which the driver begins. Restarted workers resume from the newest checkpoint of the same attempt."""
    storage = storage_at(str(job.output), job.keys.artifacts)
    reference = ranks.share(_reference(storage, channel, content, console) if ranks.rank == 0 else None)
    assert reference is not None
    return attempt_of(reference, job, storage)


def _reference(storage: Storage, channel: Channel, content: str | None, console: RemoteConsole) -> AttemptReference:
    answer: AttemptReference | Outcome = channel.ask("ready", content)
    if isinstance(answer, Outcome):
        raise answer.error()
    reference, notices = brought_up(storage, answer)
    console.log(*notices)
    return reference


class _DriverStop:
    """The driver's stop request, as this worker knows it."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel

    @property
    def reason(self) -> str | None:
        """Asks the driver if no stop is known here: another rank may have received the request, and voted, earlier."""
        return self._channel.stop or self._channel.look_for_stop()

    def __bool__(self) -> bool:
        return self._channel.stop is not None


class RemoteConsole:
    """The driver's console in a worker: it sends log lines and events to the driver. Only rank 0 gets events."""

    def __init__(self, channel: Channel, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._channel, self._clock = channel, clock
        self._next = clock()

    def log(self, *lines: str) -> None:
        if lines:
            self._channel.send("log", lines)

    def log_notices(self, notices: Iterable[str], source: str) -> None:
        """Log the notices about the file `source`."""
        self.log(*notice_lines(notices, source))

    def on_event(self, event: Event) -> None:
        if isinstance(event, Stepped):
            now = self._clock()
            if now < self._next:
                return
            self._next = now + EVERY_SECONDS
        self._channel.send("event", event)
        if isinstance(event, Evaluated):
            self._channel.settle()

    def close(self) -> None:
        """Does nothing. The driver closes the real console."""
