"""Training in one process: gradients need no sum."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch

from trainwright_trainer.strategies.interface import Flags, Forward, T, Unwatched, Watch


class Single:
    """The strategy of one process on one device."""

    rank = 0
    world = 1

    def __init__(self, device: torch.device | str = "cpu") -> None:
        self.device = torch.device(device)
        self._ask: Callable[[], Flags] = tuple
        self._watch: Watch = Unwatched()
        self._last_pass = True

    def wrap(self, model: Forward) -> Forward:
        return model

    def begin_pass(self, *, last: bool) -> None:
        self._last_pass = last

    def backward(self, loss: torch.Tensor) -> None:
        loss.backward()  # type: ignore[no-untyped-call]
        if self._last_pass:
            self._watch.computed()

    def total(self, loss: torch.Tensor) -> torch.Tensor:
        return loss

    def whole(self, part: torch.Tensor) -> torch.Tensor:
        return part

    def vote(self, ask: Callable[[], Flags]) -> None:
        self._ask = ask

    def agreed(self) -> Flags:
        return self._ask()

    def watch(self, watch: Watch) -> None:
        self._watch = watch

    def gather(self, own: T) -> Sequence[T]:
        return [own]

    def share(self, value: T) -> T:
        return value

    def leave(self) -> None: ...
