"""The whole state of training, converted to a `Snapshot` and back. Everything else is a function of (seed, step).

Tensors: `model.<name>`, `optimizer.<key>.<parameter>` and `metrics.<rank>.<name>`, of which each rank has its blocks,
and the best weights, if the best round is not that of the snapshot. State: counters and scores, as plain JSON.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TypeVar

import torch

from trainwright_api.problems import Mistakes
from trainwright_trainer.callbacks.events import Evaluated, rounds_of
from trainwright_trainer.distributed.blocks import joined
from trainwright_trainer.distributed.ranks import Ranks
from trainwright_trainer.loop.best import Best
from trainwright_trainer.loop.protocols import Metrics
from trainwright_trainer.loop.staging import Staging
from trainwright_trainer.models.trainable import Trainable
from trainwright_trainer.optim.plateau import Plateau
from trainwright_trainer.rundir.blocks import Block, Blocks, TensorSpec, copy_common, own_part, prefixed
from trainwright_trainer.rundir.checkpoint import Checkpoint
from trainwright_trainer.rundir.snapshot import Position, Snapshot
from trainwright_trainer.strategies.interface import Engine

T = TypeVar("T")


@dataclass
class Progress:
    """The position of training and its history. `seconds` is the training time of all earlier attempts."""

    step: int = 0
    epoch: int = 0
    rows: int = 0
    seconds: float = 0.0
    history: list[Evaluated] = field(default_factory=list)

    @property
    def position(self) -> Position:
        return Position(self.step, self.epoch, self.rows)


@dataclass(frozen=True)
class TrainState:
    """The parts that change while training."""

    seed: int
    engine: Engine
    metrics: Metrics
    plateau: Plateau
    best: Best
    progress: Progress
    staging: Staging

    def weights(self) -> dict[str, Block]:
        """A copy of this rank's part of the model, on the CPU."""
        return dict(self.staging.copied(self._own_weights()))

    def _own_weights(self) -> dict[str, Block]:
        return own_parts(self.engine.weights(), self.engine.ranks)

    def capture(self, seconds: float, score: float | None) -> Snapshot:
        """A copy of this rank's part of everything, on the CPU.

        `seconds` is the training time so far, over all attempts. Nothing may hold the tensors longer than the snapshot:
        their memory is used again.
        """
        progress, best, ranks = self.progress, self.best, self.engine.ranks
        is_known = best.weights is not None
        is_here = is_known and best.step == progress.step
        engine = self.engine.state()
        live = prefixed("optimizer", own_parts(engine.tensors, ranks))
        copies = self.staging.copied(live if is_here else {**live, **prefixed("model", self._own_weights())})
        running = {name: Block(one, tuple(one.shape), 0) for name, one in self.metrics.tensors().items()}
        weights = best.weights or {}
        state = {
            "seed": self.seed,
            "seconds": seconds,
            "ranks": ranks.world,
            "history": [
                {name: value for name, value in vars(one).items() if name != "ranks"} for one in progress.history
            ],
            "best": best.state(),
            "plateau": self.plateau.state(),
            **engine.values,
        }
        snapshot = Snapshot(
            progress.position,
            {**copies, **prefixed(f"metrics.{ranks.rank}", running), **prefixed("model", weights if is_here else {})},
            state,
            score,
            best.step if is_known else None,
            {} if is_here else weights,
        )
        self.staging.reuse_after(snapshot, copies)
        return snapshot

    def restore(self, checkpoint: Checkpoint) -> None:
        """Restore everything that `checkpoint` holds. The number of ranks may differ from that at its capture."""
        state = checkpoint.state
        self.engine.allocate(under("optimizer", checkpoint.specs), state)
        tensors = self.engine.state().tensors
        checkpoint.fill({**prefixed("model", self.engine.weights()), **prefixed("optimizer", tensors)})
        self.engine.refresh()
        self._restore_metrics(checkpoint, state["ranks"])
        self.plateau.load(state["plateau"])
        self.best.load(state["best"], self._best_of(checkpoint))
        progress, position = self.progress, checkpoint.position
        progress.step, progress.epoch, progress.rows = position.step, position.epoch, position.rows
        progress.seconds = state["seconds"]
        progress.history[:] = rounds_of(state["history"])

    def _best_of(self, checkpoint: Checkpoint) -> Blocks | None:
        if checkpoint.best is None:
            return None
        found = {
            name: replace(one, data=torch.empty_like(one.data, device="cpu"))
            for name, one in self._own_weights().items()
        }
        checkpoint.fill_best(found)
        return found

    def _restore_metrics(self, checkpoint: Checkpoint, parts: int) -> None:
        """With the same number of ranks, each loads its own part bit for bit; otherwise rank 0 adds up all parts."""
        self.metrics.reset()
        ranks = self.engine.ranks
        if parts == ranks.world:
            self.metrics.load(_read(checkpoint, f"metrics.{ranks.rank}"))
        elif ranks.rank == 0:
            for at in range(parts):
                self.metrics.add(_read(checkpoint, f"metrics.{at}"))

    def load_best(self) -> None:
        """Give the engine the weights of the best round. All ranks must call this."""
        assert self.best.weights is not None
        for name, target in self.engine.weights().items():
            source = self.best.weights[name]
            if target.begin is None:
                source = Block(joined(source, self.engine.ranks), source.shape)
            copy_common(target, source)
        self.engine.refresh()


def own_parts(blocks: Blocks, ranks: Ranks) -> dict[str, Block]:
    """The parts that this rank writes."""
    return {name: own_part(block, ranks.rank, ranks.world) for name, block in blocks.items()}


def check_model(model: Trainable, saved: Mapping[str, TensorSpec]) -> None:
    """Raise `Mistakes`, with the name of the first tensor that differs, if a checkpoint is of another model.

    `saved`: all tensors of the checkpoint.
    """
    there = {name: list(spec.shape) for name, spec in under("model", saved).items()}
    given = {name: list(tensor.shape) for name, tensor in model.state_dict().items()}
    for name in sorted(there.keys() | given.keys()):
        found, expected = (_shape(name, shapes) for shapes in (there, given))
        if found != expected:
            line = f"the checkpoint is of another model: {name} {found} there, and {expected} in the config"
            raise Mistakes.one("config", line)


def _shape(name: str, shapes: Mapping[str, list[int]]) -> str:
    return f"is {shapes[name]}" if name in shapes else "is absent"


def under(prefix: str, named: Mapping[str, T]) -> dict[str, T]:
    """The items whose names begin with `<prefix>.`; the returned names do not have the prefix."""
    return {name.removeprefix(f"{prefix}."): one for name, one in named.items() if name.startswith(f"{prefix}.")}


def _read(checkpoint: Checkpoint, prefix: str) -> dict[str, torch.Tensor]:
    return under(prefix, checkpoint.read(name for name in checkpoint.specs if name.startswith(f"{prefix}.")))
