"""The whole state of training, converted to a `Snapshot` and back. Everything else is a function of (seed, step).

Tensors: `model.<name>`, `optimizer.<key>.<parameter>`, `metrics.<rank>.<name>`, and `best.<name>` only if the best
round is not the round of the snapshot itself. State: counters and scores, as plain JSON.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import nn
from torch.optim import Optimizer

from trainwright_trainer.callbacks.events import Evaluated
from trainwright_trainer.loop.best import Best
from trainwright_trainer.loop.protocols import Metrics, Tensors, Trainable
from trainwright_trainer.optim.plateau import Plateau
from trainwright_trainer.rundir.snapshot import Position, Snapshot


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
    model: Trainable
    optimizer: Optimizer
    scaler: torch.amp.GradScaler | None
    metrics: Metrics
    plateau: Plateau
    best: Best
    progress: Progress

    def capture(self, seconds: float, score: float | None, running: Sequence[Tensors]) -> Snapshot:
        """A copy of everything, on the CPU. `seconds` is the training time so far, over all attempts.

        `running`: the metrics' tensors of each rank, in rank order.
        """
        progress, best = self.progress, self.best
        best_is_here = best.weights is not None and best.step == progress.step
        weights = best.weights if best_is_here and best.weights is not None else copied(self.model.state_dict())
        tensors = prefixed("model", weights) | self._optimizer_tensors()
        for rank, part in enumerate(running):
            tensors |= prefixed(f"metrics.{rank}", part)
        if best.weights is not None and not best_is_here:
            tensors |= prefixed("best", best.weights)
        state = {
            "seed": self.seed,
            "seconds": seconds,
            "ranks": len(running),
            "history": [
                {name: value for name, value in vars(one).items() if name != "ranks"} for one in progress.history
            ],
            "best": best.state() | {"here": best_is_here, "known": best.weights is not None},
            "plateau": self.plateau.state(),
            "optimizer": self._optimizer_values(),
            "scaler": self.scaler.state_dict() if self.scaler is not None else None,
        }
        return Snapshot(progress.position, tensors, state, score)

    def restore(self, snapshot: Snapshot, rank: int = 0, world: int = 1) -> None:
        """Restore everything that `snapshot` holds. The number of ranks may differ from that at its capture."""
        tensors, state = snapshot.tensors, snapshot.state
        self.model.load_state_dict(under("model", tensors))
        self._restore_optimizer(under("optimizer", tensors), state["optimizer"])
        self._restore_metrics([under(f"metrics.{at}", tensors) for at in range(state["ranks"])], rank, world)
        self.plateau.load(state["plateau"])
        weights = copied(under("model" if state["best"]["here"] else "best", tensors))
        self.best.load(state["best"], weights if state["best"]["known"] else None)
        if self.scaler is not None and state["scaler"]:
            self.scaler.load_state_dict(state["scaler"])
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

    def _named(self) -> list[tuple[str, nn.Parameter]]:
        return [(name, one) for name, one in self.model.named_parameters() if one in self.optimizer.state]

    def _optimizer_tensors(self) -> dict[str, torch.Tensor]:
        return {
            f"optimizer.{key}.{name}": value.detach().to("cpu", copy=True)
            for name, parameter in self._named()
            for key, value in self.optimizer.state[parameter].items()
            if isinstance(value, torch.Tensor)
        }

    def _optimizer_values(self) -> dict[str, dict[str, Any]]:
        """The optimizer's state that is not a tensor, by parameter."""
        found = {
            name: {k: v for k, v in self.optimizer.state[parameter].items() if not isinstance(v, torch.Tensor)}
            for name, parameter in self._named()
        }
        return {name: values for name, values in found.items() if values}

    def _restore_optimizer(self, tensors: Tensors, values: Mapping[str, Mapping[str, Any]]) -> None:
        self.optimizer.state.clear()
        parameters = dict(self.model.named_parameters())
        for name, plain in values.items():
            self.optimizer.state[parameters[name]].update(plain)
        for path, tensor in tensors.items():
            key, _, name = path.partition(".")
            parameter = parameters[name]
            device = torch.device("cpu") if key == "step" and not self._fused else parameter.device
            self.optimizer.state[parameter][key] = tensor.to(device, copy=True)

    @property
    def _fused(self) -> bool:
        """True for a fused optimizer: its step counts lie on the parameters' device, those of others on the CPU."""
        return bool(self.optimizer.defaults.get("fused"))


def copied(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """A copy of the tensors on the CPU."""
    return {name: tensor.detach().to("cpu", copy=True) for name, tensor in tensors.items()}


def prefixed(prefix: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def under(prefix: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The tensors whose names begin with `<prefix>.`; the returned names do not have the prefix."""
    return {name.removeprefix(f"{prefix}."): one for name, one in tensors.items() if name.startswith(f"{prefix}.")}
