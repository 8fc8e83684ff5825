"""The run in one of several processes that a launcher has started. All train; rank 0 owns the attempt and prints.

Nothing here depends on the launcher. All ranks end with the outcome of rank 0.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from trainwright_api.problems import Mistakes
from trainwright_api.resource.backend import Backend
from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.backends.launchers import OPERATOR, Launch
from trainwright_trainer.backends.rendezvous import Rendezvous, device_of, join_group, join_rendezvous
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.distributed import ranks_of
from trainwright_trainer.distributed.process_group import raising_peer_lost
from trainwright_trainer.distributed.rank_info import RankInfo
from trainwright_trainer.distributed.ranks import PeerLost, Ranks
from trainwright_trainer.errors import Outcome, StoppedRun
from trainwright_trainer.frames.pandas import reading_with
from trainwright_trainer.job.job import Job
from trainwright_trainer.rundir import layout
from trainwright_trainer.rundir.attempt import Attempt, AttemptReference
from trainwright_trainer.rundir.preflight import ExistingRun, look
from trainwright_trainer.runtime.cpus import asked_threads, usable_cpus
from trainwright_trainer.runtime.oom import reporting_oom
from trainwright_trainer.runtime.signals import StopRequest
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.strategies import check_installed
from trainwright_trainer.tasks.existing_run import existing_run_of_launch
from trainwright_trainer.tasks.fingerprint import compare, fingerprint_of
from trainwright_trainer.tasks.job_data import prepare_data
from trainwright_trainer.tasks.lifecycle import attempt_of, begin_attempt, recording_outcome
from trainwright_trainer.tasks.resolve import TrainContext
from trainwright_trainer.tasks.result import Result
from trainwright_trainer.tasks.train import EARLY, Training, prepare_training, threads_of

_JOIN_SECONDS = "TRAINWRIGHT_JOIN_SECONDS"


def strategy_of_launched(backend: Backend, launcher: str) -> Strategy:
    """The strategy of the file, else the one of its backend or of the launcher."""
    given = backend.trainer.strategy
    if isinstance(given, Strategy):
        return given
    own = {"deepspeed": "deepspeed", "horovod": "horovod"}.get(backend.type)
    word = given or own or ("horovod" if launcher == "horovodrun" else "ddp")
    return Strategy.model_validate({"type": word})


def start_line(job: Job, launch: Launch) -> str:
    """The line that names the launcher and the strategy."""
    processes = "1 process" if launch.world == 1 else f"{launch.world} processes"
    strategy = strategy_of_launched(job.spec.backend, launch.launcher).type
    given = job.spec.backend.type
    instead = "" if launch.is_own or given == "local" else f"; backend.type {given} does not start others"
    batch = "" if job.workers == launch.world else f"; the batch stays that of {job.workers} workers"
    by = "this run" if launch.is_own and launch.launcher != OPERATOR else launch.launcher
    return f"{by} has started {processes}: strategy {strategy}{instead}{batch}"


@contextmanager
def ending_together(rendezvous: Rendezvous) -> Iterator[None]:
    """Report a failure to the other ranks, and end with the failure of rank 0."""
    try:
        yield
    except PeerLost as gone:
        error = rendezvous.lost(gone)
    except Exception as found:
        error = found
        with suppress(PeerLost):  # the store may be gone with rank 0
            rendezvous.fail(Outcome.traced(error))
    else:
        end = rendezvous.close(Outcome("done", ""))
        if end.kind != "done":
            raise end.error()
        return
    rendezvous.close(Outcome.of(error))
    raise error


def run_launched(
    launch: Launch,
    job: Job | Exception,
    console: Console,
    stop: StopRequest,
    after: Callable[[Job, Console, StopRequest], None],
) -> Result:
    """Train on all ranks. `job`: the job as this rank reads it, or the exception of that. Rank 0 then calls `after`.

    Raises the exceptions that `errors.py` lists, on each rank those of rank 0.
    """
    with stop.at_once(EARLY):
        seconds = join_seconds(os.environ)
        rendezvous = join_rendezvous(launch, seconds)
    with ending_together(rendezvous):
        with stop.at_once(EARLY):
            rendezvous.agree("fingerprint", fingerprint_of(job, launch), compare, seconds)
        assert isinstance(job, Job)  # `compare` raises an exception of any rank
        if rendezvous.rank == 0:
            console.log_notices([*job.notices, start_line(job, launch)], job.path.name)
        result = _train(job, console, stop, rendezvous)
        if rendezvous.rank == 0:
            after(job, console, stop)
        return result


def join_seconds(environment: Mapping[str, str]) -> float:
    """The time in which all ranks have to join. Raises `Mistakes`."""
    text = environment.get(_JOIN_SECONDS, "300")
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise Mistakes.one(_JOIN_SECONDS, f"expected a whole number of seconds, from 1, found {text!r}")
    return float(text)


def _train(job: Job, console: Console, stop: StopRequest, rendezvous: Rendezvous) -> Result:
    """Run one attempt on all ranks. Rank 0 writes its outcome."""
    launch = rendezvous.launch
    job = replace(
        job,
        strategy=strategy_of_launched(job.spec.backend, launch.launcher),
        launcher="" if launch.is_own else launch.launcher,
    )
    assert job.strategy is not None
    check_installed(job.strategy.type)
    storage = storage_at(str(job.output), job.keys.artifacts)
    rank_info = _rank_info(job, launch)
    threads = threads_of(job, rank_info)
    with stop.at_once(EARLY), reading_with(threads.asked or threads.cpus):
        how = existing_run_of_launch(job, launch, storage)
        if rendezvous.rank == 0:
            look(storage, job.plain(), how)
        data = _prepared(job, rendezvous, console)
        rendezvous.agree("prepared", data.content, _same_data)
    attempt: Attempt | None = None
    with (
        recording_outcome(lambda: attempt if rendezvous.rank == 0 else None),
        _finding_failures(rendezvous),
        _ranks(rendezvous, rank_info) as ranks,
    ):
        with stop.at_once(EARLY):
            ready, data, model, parts = prepare_training(data, job, ranks, console.log)
        attempt = _attempt(job, storage, how, data.content, console, rendezvous)
        assert ready.config is not None
        context = TrainContext(ready.config, ready, data, attempt, threads)
        return Training(context, ranks, console, GangStop(stop, rendezvous)).run(model, parts)


def _prepared(job: Job, rendezvous: Rendezvous, console: Console) -> Prepared:
    """Rank 0 preprocesses first. If the ranks share a cache, the others read what rank 0 has written."""
    if rendezvous.rank:
        rendezvous.wait("cached")
    data = prepare_data(job)
    if rendezvous.rank == 0:
        console.log_notices([*data.notices, *data.finish()], Path(job.shown_dataset).name)
        rendezvous.set("cached")
    return data


def _same_data(contents: Sequence[str]) -> None:
    for rank, content in enumerate(contents):
        if content != contents[0]:
            raise Mistakes.one("dataset", f"rank {rank} sees other data than rank 0: give all machines the same files")


def _rank_info(job: Job, launch: Launch) -> RankInfo:
    """The CPUs of the machine are divided among its processes, unless the file gives those of a worker."""
    trainer = job.spec.backend.trainer
    given = (trainer.resources_per_worker or {}).get("CPU")
    cpus = usable_cpus(given) if given else max(1, usable_cpus(job.cpus) // launch.local_world)
    device = str(device_of(launch, trainer.use_gpu))
    return RankInfo(launch.rank, launch.world, device, cpus, asked_threads(os.environ))


@contextmanager
def _ranks(rendezvous: Rendezvous, rank_info: RankInfo) -> Iterator[Ranks]:
    """The collectives between the ranks. On a failure this rank gives up, so that the others do not wait for it, and
    tells them why."""
    if rendezvous.launch.is_on_one_machine:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    if rendezvous.launch.launcher == OPERATOR:
        os.environ["MASTER_ADDR"] = rendezvous.launch.address  # Horovod connects there too
    if rendezvous.world > 1:
        with raising_peer_lost():
            join_group(rendezvous, rank_info.device)
    ranks = ranks_of(rank_info)
    try:
        with reporting_oom(), raising_peer_lost():
            yield ranks
    except (PeerLost, StoppedRun):  # all ranks stop at the same step
        raise
    except Exception as error:
        rendezvous.fail(Outcome.traced(error))
        ranks.abort()
        raise
    ranks.leave()


def _attempt(
    job: Job, storage: Storage, how: ExistingRun, content: str, console: Console, rendezvous: Rendezvous
) -> Attempt:
    """The attempt, which rank 0 begins, on every rank. Raises `Mistakes` if a rank does not see the run folder."""
    attempt: Attempt | None = None
    if rendezvous.rank == 0:
        # In a pod, the operator starts a new attempt, and no launcher goes on with this one.
        parent = rendezvous.launch.parent if job.attempt is None else None
        attempt = begin_attempt(job, storage, how, content or None, console.log, launch=parent)
        rendezvous.set("attempt", AttemptReference.of(attempt))
    else:
        rendezvous.wait("attempt")
        reference: AttemptReference = rendezvous.get("attempt")
        if storage.exists(layout.start(reference.number)):
            attempt = attempt_of(reference, job, storage)
    rendezvous.agree("sees the run", attempt is not None, _same_folder(storage.location))
    assert attempt is not None
    return attempt


def _same_folder(location: str) -> Callable[[Sequence[bool]], None]:
    def check(sees: Sequence[bool]) -> None:
        others = [str(rank) for rank, one in enumerate(sees) if not one]
        if others:
            found = f"{location} is not the same folder for rank {', '.join(others)} as for rank 0"
            raise Mistakes.one("output", f"{found}: give a folder that all machines share, or an s3:// URI")

    return check


@contextmanager
def _finding_failures(rendezvous: Rendezvous) -> Iterator[None]:
    """Replace a lost peer by the failure that it has reported, or by one line."""
    try:
        yield
    except PeerLost as error:
        raise rendezvous.lost(error) from error


class GangStop:
    """The stop request of this process. It tells the others its reason before this rank votes."""

    def __init__(self, own: StopRequest, rendezvous: Rendezvous) -> None:
        self._own, self._rendezvous = own, rendezvous
        self._is_set = False

    @property
    def reason(self) -> str | None:
        return self._own.reason or self._rendezvous.get("stop")

    def __bool__(self) -> bool:
        if self._own.reason and not self._is_set:
            self._rendezvous.set("stop", f"{self._own.reason} (rank {self._rendezvous.rank})")
            self._is_set = True
        return self._is_set
