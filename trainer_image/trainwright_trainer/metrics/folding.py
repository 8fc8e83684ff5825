"""The folding of a GPU's rows in a thread, so that neither the GPU nor the next step waits for it."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import torch

from trainwright_trainer.metrics.stored_rows import Rows

Fold = Callable[[Rows], None]

_MOST_WAITING = 4
"""The most groups of rows that wait for the thread. Then the next step waits, and the memory does not grow."""
_THREAD = ThreadPoolExecutor(1, thread_name_prefix="metrics")


class Folding:
    """The folding of one state's rows, in their order."""

    def __init__(self) -> None:
        self._waiting: deque[Future[None]] = deque()

    def start(self, rows: Rows, fold: Fold) -> None:
        """Call `fold` in the thread, with copies of the rows in pinned memory. The rows may change after this call."""
        if len(self._waiting) == _MOST_WAITING:
            self._waiting.popleft().result()
        logits, targets, losses = (_pinned(one.detach()) for one in rows)
        arrived = torch.cuda.current_stream(rows[0].device).record_event()
        self._waiting.append(_THREAD.submit(_fold_arrived, arrived, (logits, targets, losses), fold))

    def finish(self) -> None:
        """Wait until all rows are folded. Raises the exception of a fold."""
        while self._waiting:
            self._waiting.popleft().result()


def _pinned(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True).copy_(tensor, non_blocking=True)


def _fold_arrived(arrived: torch.cuda.Event, rows: Rows, fold: Fold) -> None:
    arrived.synchronize()
    fold(rows)
