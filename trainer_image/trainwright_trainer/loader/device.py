"""The way to a GPU: whole splits that fit in its memory, and batches, which are copied while it computes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TypeGuard

import torch

from trainwright_trainer.loader.ahead import ahead
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.encoded_rows import EncodedRows
from trainwright_trainer.loader.gpu import has_room, is_gpu, stream_of_copies


def held_on(device: torch.device | None, parts: Sequence[EncodedRows]) -> Sequence[EncodedRows]:
    """The same rows with their dense columns on `device`, if that is a GPU and all of them fit there."""
    if not is_gpu(device) or not has_room(device, sum(rows.floats.nbytes + rows.ints.nbytes for rows in parts)):
        return parts
    there = [replace(rows, floats=rows.floats.to(device), ints=rows.ints.to(device)) for rows in parts]
    torch.cuda.synchronize(device)  # other streams read them
    return there


def computes_beside_the_cpu(device: torch.device | None) -> TypeGuard[torch.device]:
    """True for a GPU, or another device that is not the CPU. None: the CPU."""
    return device is not None and device.type != "cpu"


def copied_ahead(batches: Iterator[Batch], device: torch.device | None) -> Iterator[Batch]:
    """The batches on `device`, in their order. On a CPU they stay as they are.

    For another device a thread makes them ahead. For a GPU it copies them in a stream of its own, from pinned memory,
    so that no copy waits for the steps in the queue. torch uses that memory again when its copy has ended.
    """
    if not computes_beside_the_cpu(device):
        return batches
    if not is_gpu(device):
        return ahead(batch.on(device) for batch in batches)
    return _copied_in_a_stream(batches, device)


def _copied_in_a_stream(batches: Iterator[Batch], device: torch.device) -> Iterator[Batch]:
    copies = stream_of_copies(device)
    steps = torch.cuda.current_stream(device)

    def started() -> tuple[Batch, torch.cuda.Event] | None:
        """Called in the thread. Rows on the GPU are gathered in the stream of the copies, too."""
        with torch.cuda.stream(copies):
            batch = next(batches, None)
            return None if batch is None else (batch.on(device), copies.record_event())

    for batch, arrived in ahead(iter(started, None)):
        steps.wait_event(arrived)
        batch.used_in(steps)
        yield batch
