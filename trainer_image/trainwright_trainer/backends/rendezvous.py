"""Processes that a launcher has started: they share a store, agree before the first step, and end together.

The store passes on the failure of one rank before the others notice that it has left the process group.
"""

from __future__ import annotations

import itertools
import pickle
import signal
import socket
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch._C._distributed_c10d import PrefixStore, Store, TCPStore

from trainwright_api.problems import Mistakes
from trainwright_trainer.backends.launchers import Launch
from trainwright_trainer.distributed.process_group import collectives_for
from trainwright_trainer.distributed.ranks import PeerLost
from trainwright_trainer.errors import EnvironmentFailure, LostRank, Outcome
from trainwright_trainer.runtime.signals import SIGNALS

T = TypeVar("T")
_LOST = "another process of this training is gone. --resume goes on from the newest checkpoint"
COLLECTIVE_SECONDS = 600.0
"""The maximum wait for other ranks in a collective. A process that is gone ends the wait at once."""
_POLL_SECONDS = 0.05
# The time in which the other ranks read the end of rank 0 before its store is gone; the second, if a rank is missing.
_EXIT_SECONDS = 30.0
_EXIT_SECONDS_OF_REST = 2.0
# A process may train several times, each with other keys in the same store.
_rendezvous_of_process = itertools.count()


class Rendezvous:
    """The store that the processes of one training share. Values are pickled, as those of `torch.distributed` are."""

    def __init__(self, launch: Launch, store: Store) -> None:
        self.launch, self.rank, self.world = launch, launch.rank, launch.world
        self._store = store
        self.is_complete = True
        """False once a rank is known to be missing: no end of all can be waited for."""

    def agree(self, key: str, own: T, check: Callable[[Sequence[T]], object], seconds: float | None = None) -> None:
        """Wait until rank 0 has checked the values of all ranks, in rank order. `check` raises what ends all ranks.

        After `seconds`, raises `EnvironmentFailure` with the names of the missing ranks.
        """
        until = None if seconds is None else time.monotonic() + seconds
        self.set(f"{key}/{self.rank}", own)
        if self.rank == 0:
            check([self._get(name) for name in self._of_all(key, until, seconds)])
            self.set(key, True)
        elif not self._wait(key, None if until is None else until + _EXIT_SECONDS):
            raise EnvironmentFailure(f"rank 0 did not answer within {seconds:g} s")

    def wait(self, key: str) -> None:
        """Wait for `set`. Raises the failure of another rank, and `PeerLost` if the store is gone."""
        self._wait(key, None)

    def set(self, key: str, value: Any = True) -> None:
        with _store_errors():
            self._store.set(key, pickle.dumps(value))  # type: ignore[arg-type]  # bytes are allowed

    def get(self, key: str) -> Any:
        """The value, or None if no rank has set it yet."""
        return self._get(key) if self._has(key) else None

    def fail(self, outcome: Outcome) -> None:
        """Report the failure of this rank. The first report counts."""
        with _store_errors():
            first = self._store.add("failures", 1) == 1
        if first:
            self.set("failure", outcome)

    def failure(self) -> Outcome | None:
        """The failure that a rank has reported."""
        found: Outcome | None = self.get("failure")
        return found

    def close(self, own: Outcome) -> Outcome:
        """The outcome of rank 0. Returns when rank 0 has ended, on rank 0 when all ranks know its outcome.

        A rank that has failed waits for a limited time, because others may be gone.
        """
        end = own
        if own.kind != "done":
            _block_signals()
        seconds = _EXIT_SECONDS if self.is_complete else _EXIT_SECONDS_OF_REST
        until = None if own.kind == "done" and self.rank else time.monotonic() + seconds
        try:
            if self.rank == 0:
                self.set("end", own)
                self._until(lambda: self._number("left") >= self.world - 1, until)
            elif self._until(lambda: self._has("end"), until):
                end = self._get("end")
                if end.kind != "done":
                    _block_signals()
                self._store.add("left", 1)
        except PeerLost:
            pass
        return end

    def lost(self, error: PeerLost) -> Exception:
        """The exception for a lost peer: the failure that it has reported, else one line.

        A fault of NCCL looks like a lost peer, so the line says what NCCL says.
        """
        self.is_complete = False
        try:
            failure = self.failure()
        except PeerLost:
            failure = None
        return failure.error() if failure else LostRank(_LOST, str(error) if "nccl" in str(error).lower() else "")

    def group(self) -> PrefixStore:
        """The store of the process group."""
        return PrefixStore("group", self._store)

    def _of_all(self, key: str, until: float | None, seconds: float | None) -> list[str]:
        names = [f"{key}/{rank}" for rank in range(self.world)]
        if self._until_or_failure(lambda: all(map(self._has, names)), until):
            return names
        self.is_complete = False
        missing = [str(rank) for rank, name in enumerate(names) if not self._has(name)]
        word, whose = ("rank", "its") if len(missing) == 1 else ("ranks", "their")
        raise EnvironmentFailure(f"{word} {', '.join(missing)} did not join within {seconds:g} s: see {whose} output")

    def _wait(self, key: str, until: float | None) -> bool:
        return self._until_or_failure(lambda: self._has(key), until)

    def _until_or_failure(self, happened: Callable[[], bool], until: float | None) -> bool:
        """As `_until`. Raises the failure that another rank reports meanwhile."""

        def happened_without_failure() -> bool:
            failure = self.failure()
            if failure is not None:
                raise failure.error()
            return happened()

        return self._until(happened_without_failure, until)

    def _until(self, happened: Callable[[], bool], until: float | None) -> bool:
        """False if it has not happened in time. Python's signal handlers run between the polls."""
        while not happened():
            if until is not None and time.monotonic() > until:
                return False
            time.sleep(_POLL_SECONDS)
        return True

    def _number(self, key: str) -> int:
        with _store_errors():
            return int(self._store.add(key, 0))

    def _has(self, key: str) -> bool:
        with _store_errors():
            return bool(self._store.check([key]))

    def _get(self, key: str) -> Any:
        with _store_errors():
            return pickle.loads(self._store.get(key))


def join_rendezvous(launch: Launch, seconds: float) -> Rendezvous:
    """Connect with the store. Raises `EnvironmentFailure` if rank 0 does not answer within `seconds`, and `Mistakes`
    for a port in use.
    """
    address, port = launch.address, launch.port
    until = time.monotonic() + seconds
    serves = launch.rank == 0 and not launch.launcher_serves
    name = f"{launch.name}-{launch.restart}-{next(_rendezvous_of_process)}"
    if launch.launcher == "horovodrun":
        from trainwright_trainer.backends.horovodrun import published, served

        store = served(launch, name) if serves else None
        if store is None:
            address, port = published(launch, name, until, seconds)
    else:
        store = _served(address, port) if serves else None
    store = store or _connected(address, port, until, seconds)
    return Rendezvous(launch, PrefixStore(f"trainwright/{name}", store))


def join_group(rendezvous: Rendezvous, device: str) -> None:
    """Initialise the process group of all ranks."""
    dist.init_process_group(
        collectives_for(device),
        store=rendezvous.group(),
        rank=rendezvous.rank,
        world_size=rendezvous.world,
        timeout=timedelta(seconds=COLLECTIVE_SECONDS),
    )


def _served(address: str, port: int) -> TCPStore:
    try:
        return TCPStore("0.0.0.0", port, is_master=True, wait_for_workers=False, multi_tenant=True)
    except RuntimeError as error:
        if "EADDRINUSE" not in str(error) and "in use" not in str(error):
            raise
        found = f"port {port} of {address} is in use, perhaps by another training: set MASTER_PORT to a free port"
        raise Mistakes.one("MASTER_PORT", found) from error


def _connected(address: str, port: int, until: float, seconds: float) -> TCPStore:
    """A client of the store. Python tries the port, because the store's own attempts would block signals."""
    while True:
        try:
            socket.create_connection((address, port), 5).close()
            return TCPStore(address, port, is_master=False, timeout=timedelta(seconds=COLLECTIVE_SECONDS))
        except (OSError, dist.DistError) as error:
            if time.monotonic() > until:
                found = f"rank 0 does not answer at {address}:{port} within {seconds:g} s: {error}"
                raise EnvironmentFailure(found) from error
            time.sleep(_POLL_SECONDS)


def _block_signals() -> None:
    """A launcher ends all processes as soon as one fails. This one ends by itself, with its own exit code."""
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)


@contextmanager
def _store_errors() -> Iterator[None]:
    """A store that does not answer has gone with its process."""
    try:
        yield
    except RuntimeError as error:
        raise PeerLost(str(error).partition("\n")[0]) from error


def device_of(launch: Launch, use_gpu: bool | None) -> torch.device:
    """The device of this process: one of the GPUs that it sees, by its number on the machine, or the CPU.

    Raises `EnvironmentFailure` if the file asks for GPUs and there is none.
    """
    if use_gpu is not False and torch.cuda.is_available():
        index = launch.local_rank % torch.cuda.device_count()
        torch.cuda.set_device(index)
        return torch.device("cuda", index)
    if use_gpu:
        cuda = torch.version.cuda
        why = f"is the driver new enough for CUDA {cuda}?" if cuda else "it is built without CUDA"
        raise EnvironmentFailure(f"backend.trainer.use_gpu asks for a GPU, and torch finds none here: {why}")
    return torch.device("cpu")
