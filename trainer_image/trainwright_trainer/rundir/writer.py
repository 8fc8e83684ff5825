"""Write checkpoints in the background, one at a time, while newer ones wait. Only the last one's failure is raised."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from typing import Protocol, TypeVar

from trainwright_api.resource.job import CheckpointPolicy
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.rundir import checkpoint, listing
from trainwright_trainer.rundir.blocks import prefixed
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.manifest import BestWeights, Damaged, score_of
from trainwright_trainer.rundir.retention import Fence, Kept, still_waiting, to_delete
from trainwright_trainer.rundir.shards import SHARD_BYTES
from trainwright_trainer.rundir.snapshot import Snapshot
from trainwright_trainer.rundir.write import WrittenShards, write_manifest, write_shards
from trainwright_trainer.storage.base import Storage

T = TypeVar("T")
OnWritten = Callable[[str, str | None], None]


class Collectives(Protocol):
    """The collectives of the writers of all ranks; see `Ranks`. Nothing else uses them at the same time."""

    @property
    def rank(self) -> int: ...

    def gather(self, own: T) -> Sequence[T]: ...

    def share(self, value: T) -> T: ...


@dataclass(frozen=True)
class Order:
    """Rank 0's decision, which all ranks follow: the step to write next, and the steps that are dropped.

    `best_in`: the checkpoint that has the snapshot's best weights already.
    """

    step: int
    dropped: frozenset[int]
    best_in: CheckpointName | None


class CheckpointWriter:
    """The loop's `Checkpoints` on one rank. All ranks save snapshots of the same steps, each with its own blocks.

    One thread only, the training thread, may call save, flush and close. While a checkpoint is written, the newest
    snapshot waits, and the best of the older ones: see `retention.py`. Rank 0 chooses the next one and writes the
    manifest when all ranks have written. Its own thread calls `on_written(name, error)`: error is None for a complete
    checkpoint, else one line.
    """

    def __init__(
        self,
        storage: Storage,
        fence: Fence,
        policy: CheckpointPolicy,
        on_written: OnWritten,
        ranks: Collectives,
        *,
        best: BestWeights | None = None,
        limit: int = SHARD_BYTES,
    ) -> None:
        """`best`: the best weights so far, if a checkpoint of this attempt has them."""
        self._storage, self._fence, self._policy = storage, fence, policy
        self._on_written, self._ranks, self._limit = on_written, ranks, limit
        self._best = best  # only those of this attempt: an older process may still delete its own
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="checkpoints")
        self._changed = threading.Condition()
        self._waiting: list[Snapshot] = []
        self._dropped: set[int] = set()
        self._draining = self._closing = False
        self._drained: Future[None] | None = None
        self._failure: str | None = None
        self._known: dict[CheckpointName, Kept] = {}

    def save(self, snapshot: Snapshot) -> None:
        """Queue the snapshot and return at once. The writer owns the snapshot's tensors from then on."""
        with self._changed:
            self._queue(snapshot)
            begin = bool(self._waiting) and not self._draining
            self._draining = self._draining or begin
            self._changed.notify()
        if begin:
            self._drained = self._thread.submit(self._drain)
        elif self._drained is not None and self._drained.done():
            self._drained.result()  # raises the exception of the background thread: a bug, or a lost process

    def flush(self) -> None:
        """Wait until all snapshots are written. Raises EnvironmentFailure if the last one could not be written."""
        self._wait()
        if self._failure is not None:
            raise EnvironmentFailure(self._failure)

    def close(self) -> None:
        """Wait until every write has completed or failed. A failure is not raised: training has its weights anyway."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        try:
            self._wait()
        finally:
            self._thread.shutdown()

    def _wait(self) -> None:
        if self._drained is not None:
            self._drained.result()

    def _queue(self, snapshot: Snapshot) -> None:
        step = snapshot.position.step
        if self._ranks.rank:
            if step not in self._dropped:
                self._waiting.append(snapshot)
            self._dropped.discard(step)
            return
        before = {one.position.step for one in self._waiting}
        self._waiting = still_waiting(self._waiting, snapshot, self._policy)
        self._dropped |= before - {one.position.step for one in self._waiting}

    def _drain(self) -> None:
        while (found := self._next()) is not None:
            self._write(*found)

    def _next(self) -> tuple[Snapshot, Order] | None:
        """The snapshot to write, the same on all ranks; None if none waits."""
        with self._changed:
            self._draining = bool(self._waiting)
            if not self._waiting:
                return None
            chosen = None if self._ranks.rank else self._waiting.pop(0)
            order = None if chosen is None else self._order(chosen)
        order = self._ranks.share(order)
        assert order is not None
        snapshot = chosen or self._ordered(order)
        return None if snapshot is None else (snapshot, order)

    def _order(self, snapshot: Snapshot) -> Order:
        dropped, self._dropped = frozenset(self._dropped), set()
        best = self._best
        best_in = best.checkpoint if best and snapshot.best and best.step == snapshot.best_step else None
        return Order(snapshot.position.step, dropped, best_in)

    def _ordered(self, order: Order) -> Snapshot | None:
        """Take the snapshot that rank 0 has chosen. It may come later on this rank. None: this rank ends before."""
        with self._changed:
            arrived = {one.position.step for one in self._waiting}
            self._dropped |= order.dropped - arrived
            self._waiting = [one for one in self._waiting if one.position.step not in order.dropped]
            self._changed.wait_for(lambda: self._closing or self._at(order.step) is not None)
            at = self._at(order.step)
            return None if at is None else self._waiting.pop(at)

    def _at(self, step: int) -> int | None:
        return next((at for at, one in enumerate(self._waiting) if one.position.step == step), None)

    def _write(self, snapshot: Snapshot, order: Order) -> None:
        name = CheckpointName(snapshot.position.step, self._fence.attempt)
        parts = self._ranks.gather(_tried(lambda: self._write_shards(name, snapshot, order)))
        if self._ranks.rank:
            return
        failure = next((part for part in parts if isinstance(part, str)), None)
        if failure is None:
            written = [part for part in parts if isinstance(part, WrittenShards)]
            failure = _tried(lambda: self._write_manifest(name, snapshot, order, written))
        self._failure = failure
        self._on_written(str(name), failure)
        self._clean(name, self._prune if failure is None else lambda: checkpoint.sweep(self._storage, name))

    def _write_shards(self, name: CheckpointName, snapshot: Snapshot, order: Order) -> WrittenShards:
        best = {} if order.best_in is not None else snapshot.best
        blocks = {**snapshot.tensors, **prefixed("best", best)}
        return write_shards(self._storage, name, blocks, self._ranks.rank, limit=self._limit)

    def _write_manifest(
        self, name: CheckpointName, snapshot: Snapshot, order: Order, parts: Sequence[WrittenShards]
    ) -> None:
        """Complete the checkpoint."""
        step = snapshot.best_step
        best = None if step is None else BestWeights(step, order.best_in)
        write_manifest(self._storage, name, snapshot, parts, best)
        if step is not None:
            self._best = BestWeights(step, order.best_in or name)
        self._known[name] = Kept(name, score_of(snapshot), order.best_in)

    def _clean(self, name: CheckpointName, clean: Callable[[], None]) -> None:
        """Call `clean`. A failure is reported only: leftover files cost disk space but do not harm the run."""
        try:
            clean()
        except EnvironmentFailure as error:
            self._on_written(str(name), f"older checkpoints could not be deleted: {error}")

    def _prune(self) -> None:
        complete, torn = listing.complete_and_torn(self._storage)
        kept = [self._kept(name) for name in complete]
        for name in [*to_delete(kept, self._fence, self._policy), *filter(self._fence.may_delete, torn)]:
            checkpoint.delete(self._storage, name)
            self._known.pop(name, None)

    def _kept(self, name: CheckpointName) -> Kept:
        if name not in self._known:
            try:
                manifest = checkpoint.read_manifest(self._storage, name)
                best_in = manifest.best.checkpoint if manifest.best else None
                self._known[name] = Kept(name, manifest.score, best_in)
            except Damaged:
                self._known[name] = Kept(name)
        return self._known[name]


def _tried(write: Callable[[], T]) -> T | str:
    """The result of `write`, or a line that says why the machine refused it."""
    try:
        return write()
    except (EnvironmentFailure, MemoryError) as error:
        return str(error) or "not enough memory"
