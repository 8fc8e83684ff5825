"""The whole state of training, converted to a `Snapshot` and back. Everything else is a function of (seed, step).

Tensors: `model.<name>`, `optimizer.<key>.<parameter>`, `metrics.<rank>.<name>`, and `best.<name>` only if the best
round is not the round of the snapshot itself. State: counters and scores, as plain JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import torch

from trainwright_api.problems import Mistakes
from trainwright_trainer.callbacks.events import Evaluated
from trainwright_trainer.loop.best import Best
from trainwright_trainer.loop.protocols import Metrics
from trainwright_trainer.loop.staging import Staging
from trainwright_trainer.models.trainable import Tensors, Trainable, copied
from trainwright_trainer.optim.plateau import Plateau
from trainwright_trainer.rundir.snapshot import Position, Snapshot
from trainwright_trainer.strategies.interface import Engine, EngineState


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

    def weights(self) -> Tensors:
        """A copy of the model's tensors, on the CPU."""
        weights = self.engine.weights()
        return weights if self.engine.is_sharded else copied(weights)

    def capture(self, seconds: float, score: float | None, running: Sequence[Tensors]) -> Snapshot:
        """A copy of everything, on the CPU. `seconds` is the training time so far, over all attempts.

        `running`: the metrics' tensors of each rank, in rank order. Nothing may hold the tensors longer than the
        snapshot: their memory is used again.
        """
        progress, best = self.progress, self.best
        best_is_here = best.weights is not None and best.step == progress.step
        engine = self.engine.state()
        own = prefixed("optimizer", engine.tensors) | prefixed("model", {} if best_is_here else self.engine.weights())
        own = own if self.engine.is_sharded else self.staging.copied(own)
        tensors = dict(own)
        for rank, part in enumerate(running):
            tensors |= prefixed(f"metrics.{rank}", part)
        if best.weights is not None:
            tensors |= prefixed("model" if best_is_here else "best", best.weights)
        state = {
            "seed": self.seed,
            "seconds": seconds,
            "ranks": len(running),
            "history": [
                {name: value for name, value in vars(one).items() if name != "ranks"} for one in progress.history
            ],
            "best": best.state() | {"here": best_is_here, "known": best.weights is not None},
            "plateau": self.plateau.state(),
            **engine.values,
        }
        snapshot = Snapshot(progress.position, tensors, state, score)
        self.staging.reuse_after(snapshot, own)
        return snapshot

    def restore(self, snapshot: Snapshot, rank: int = 0, world: int = 1) -> None:
        """Restore everything that `snapshot` holds. The number of ranks may differ from that at its capture."""
        tensors, state = snapshot.tensors, snapshot.state
        self.engine.load_weights(under("model", tensors))
        values = {name: state[name] for name in ("optimizer", "scaler")}
        self.engine.load(EngineState(under("optimizer", tensors), values))
        self._restore_metrics([under(f"metrics.{at}", tensors) for at in range(state["ranks"])], rank, world)
        self.plateau.load(state["plateau"])
        weights = copied(under("model" if state["best"]["here"] else "best", tensors))
        self.best.load(state["best"], weights if state["best"]["known"] else None)
        progress, position = self.progress, snapshot.position
        progress.step, progress.epoch, progress.rows = position.step, position.epoch, position.rows
        progress.seconds = state["seconds"]
        progress.history[:] = [Evaluated(**round_) for round_ in state["history"]]

    def _restore_metrics(self, parts: Sequence[Tensors], rank: int, world: int) -> None:
        """With the same number of ranks, each loads its own part bit for bit; otherwise rank 0 adds up all parts."""
        self.metrics.reset()
        if len(parts) == world:
            self.metrics.load(parts[rank])
        elif rank == 0:
            for part in parts:
                self.metrics.add(part)


def check_model(model: Trainable, snapshot: Snapshot) -> None:
    """Raise `Mistakes`, with the name of the first tensor that differs, if the snapshot is of another model."""
    saved, given = under("model", snapshot.tensors), model.state_dict()
    for name in sorted(saved.keys() | given.keys()):
        found, expected = (_shape(name, tensors) for tensors in (saved, given))
        if found != expected:
            line = f"the checkpoint is of another model: {name} {found} there, and {expected} in the config"
            raise Mistakes.one("config", line)


def _shape(name: str, tensors: Tensors) -> str:
    return f"is {list(tensors[name].shape)}" if name in tensors else "is absent"


def prefixed(prefix: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def under(prefix: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors whose names begin with `<prefix>.`; the returned names do not have the prefix."""
    return {name.removeprefix(f"{prefix}."): one for name, one in tensors.items() if name.startswith(f"{prefix}.")}
