"""The folding of rows in a thread, so that neither a GPU nor the next step waits for it."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

import torch

from trainwright_trainer.metrics.stored_rows import Rows

Fold = Callable[[Rows], None]

_MOST_WAITING = 4
"""The most groups of rows that wait for the thread. Then the next step waits, and the memory does not grow."""
_THREAD = ThreadPoolExecutor(1, thread_name_prefix="metrics")


def is_core_free() -> bool:
    """True if the steps compute with fewer threads than there are cores."""
    return torch.get_num_threads() < len(os.sched_getaffinity(0))


class Folding:
    """The folding of one state's rows, in their order."""

    def __init__(self) -> None:
        self._waiting: deque[Future[None]] = deque()

    def start(self, rows: Rows, fold: Fold) -> None:
        """Call `fold` in the thread, with copies of the rows on the CPU. The rows may change after this call."""
        if len(self._waiting) == _MOST_WAITING:
            self._waiting.popleft().result()
        copies, wait = _copied(rows)
        self._waiting.append(_THREAD.submit(_fold_copied, copies, wait, fold))

    def finish(self) -> None:
        """Wait until all rows are folded. Raises the exception of a fold."""
        while self._waiting:
            self._waiting.popleft().result()


def _copied(rows: Rows) -> tuple[Rows, Callable[[], None]]:
    """Copies on the CPU, and a function that waits until they have arrived there."""
    logits, targets, losses = ((_pinned if one.is_cuda else torch.clone)(one.detach()) for one in rows)
    copies = logits, targets, losses
    if not rows[0].is_cuda:
        return copies, lambda: None
    return copies, torch.cuda.current_stream(rows[0].device).record_event().synchronize


def _pinned(tensor: torch.Tensor) -> torch.Tensor:
    return torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True).copy_(tensor, non_blocking=True)


def _fold_copied(copies: Rows, wait: Callable[[], None], fold: Fold) -> None:
    wait()
    fold(copies)
