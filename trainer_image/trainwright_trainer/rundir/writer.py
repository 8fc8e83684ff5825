"""Write checkpoints in the background, one at a time, while newer ones wait. Only the last one's failure is raised."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

from trainwright_api.resource.job import CheckpointPolicy
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.rundir import checkpoint, listing
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.manifest import Damaged, score_of
from trainwright_trainer.rundir.retention import Fence, Kept, still_waiting, to_delete
from trainwright_trainer.rundir.shards import SHARD_BYTES
from trainwright_trainer.rundir.snapshot import Snapshot
from trainwright_trainer.storage.base import Storage

OnWritten = Callable[[str, str | None], None]


class CheckpointWriter:
    """The loop's `Checkpoints`. One thread only, the training thread, may call save, flush and close.

    While a checkpoint is written, the newest snapshot waits, and the best of the older ones: see `retention.py`. The
    writer's own thread calls `on_written(name, error)`: error is None for a complete checkpoint, else one line.
    """

    def __init__(
        self,
        storage: Storage,
        fence: Fence,
        policy: CheckpointPolicy,
        on_written: OnWritten,
        *,
        limit: int = SHARD_BYTES,
    ) -> None:
        self._storage = storage
        self._fence = fence
        self._policy = policy
        self._on_written = on_written
        self._limit = limit
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="checkpoints")
        self._lock = threading.Lock()
        self._waiting: list[Snapshot] = []
        self._draining = False
        self._drained: Future[None] | None = None
        self._failure: str | None = None
        self._scores: dict[CheckpointName, float | None] = {}

    def save(self, snapshot: Snapshot) -> None:
        """Queue the snapshot and return at once. The writer owns the snapshot's tensors from then on."""
        with self._lock:
            self._waiting = still_waiting(self._waiting, snapshot, self._policy)
            begin = not self._draining
            self._draining = True
        if begin:
            self._drained = self._thread.submit(self._drain)
        elif self._drained is not None and self._drained.done():
            self._drained.result()  # raises the exception of a bug in the background thread

    def flush(self) -> None:
        """Wait until all snapshots are written. Raises EnvironmentFailure if the last one could not be written."""
        self._wait()
        if self._failure is not None:
            raise EnvironmentFailure(self._failure)

    def close(self) -> None:
        """Wait until every write has completed or failed. A failure is not raised: training has its weights anyway."""
        try:
            self._wait()
        finally:
            self._thread.shutdown()

    def _wait(self) -> None:
        if self._drained is not None:
            self._drained.result()

    def _drain(self) -> None:
        while (snapshot := self._next()) is not None:
            self._write(snapshot)

    def _next(self) -> Snapshot | None:
        with self._lock:
            self._draining = bool(self._waiting)
            return self._waiting.pop(0) if self._waiting else None

    def _write(self, snapshot: Snapshot) -> None:
        name = CheckpointName(snapshot.position.step, self._fence.attempt)
        try:
            checkpoint.write(self._storage, snapshot, self._fence.attempt, limit=self._limit)
        except (EnvironmentFailure, MemoryError) as error:
            self._failure = str(error) or "not enough memory"
            self._on_written(str(name), self._failure)
            self._clean(name, lambda: checkpoint.sweep(self._storage, name))
            return
        self._failure = None
        self._scores[name] = score_of(snapshot)
        self._on_written(str(name), None)
        self._clean(name, self._prune)

    def _clean(self, name: CheckpointName, clean: Callable[[], None]) -> None:
        """Call `clean`. A failure is reported only: leftover files cost disk space but do not harm the run."""
        try:
            clean()
        except EnvironmentFailure as error:
            self._on_written(str(name), f"older checkpoints could not be deleted: {error}")

    def _prune(self) -> None:
        complete = listing.complete(self._storage)
        torn = set(listing.names(self._storage)) - set(complete)
        kept = [Kept(name, self._score(name)) for name in complete]
        for name in [*to_delete(kept, self._fence, self._policy), *filter(self._fence.may_delete, sorted(torn))]:
            checkpoint.delete(self._storage, name)
            self._scores.pop(name, None)

    def _score(self, name: CheckpointName) -> float | None:
        if name not in self._scores:
            try:
                self._scores[name] = checkpoint.read_manifest(self._storage, name).score
            except Damaged:
                self._scores[name] = None
        return self._scores[name]
