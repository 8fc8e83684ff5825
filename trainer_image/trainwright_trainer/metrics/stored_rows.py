"""The rows of some steps, until they are folded into the sums of the metrics."""

from __future__ import annotations

import torch

Rows = tuple[torch.Tensor, torch.Tensor, torch.Tensor]
"""Logits, targets and losses, with the same number of rows."""


class StoredRows:
    """Copies of the rows in memory that is allocated once, on the device of the rows.

    If each step left small tensors of its own, they would lie between the large tensors of the steps. On a CPU the
    allocator then cannot give the next step the same memory: the heap grows, and the kernel clears each new page.
    """

    def __init__(self) -> None:
        self.rows, self.values = 0, 0
        """The number of rows and that of their logits."""
        self._memory: Rows | None = None

    @torch.no_grad()
    def append(self, rows: Rows, most_values: int) -> None:
        """`most_values`: the rows are cleared once there are so many logits. The first memory has room for them."""
        count = len(rows[0])
        end = self.rows + count
        if self._memory is None or self._memory[0].device != rows[0].device or end > len(self._memory[0]):
            self._make_room(rows, end + count * most_values // max(1, rows[0].numel()))
        assert self._memory is not None
        torch._foreach_copy_([memory[self.rows : end] for memory in self._memory], rows)
        self.rows, self.values = end, self.values + rows[0].numel()

    def all(self) -> Rows:
        """The stored rows, as views."""
        assert self._memory is not None
        logits, targets, losses = (memory[: self.rows] for memory in self._memory)
        return logits, targets, losses

    def clear(self) -> None:
        """Forget the rows, and keep the memory for others."""
        self.rows, self.values = 0, 0

    def _make_room(self, rows: Rows, most: int) -> None:
        before = None if self._memory is None else self.all()
        with torch.inference_mode(False):  # or only rows of evaluations may follow
            logits, targets, losses = (one.new_empty((most, *one.shape[1:])) for one in rows)
        self._memory = logits, targets, losses
        if before is not None:
            torch._foreach_copy_([memory[: self.rows] for memory in self._memory], before)
