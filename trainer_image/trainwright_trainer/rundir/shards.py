"""Write tensors as safetensors files and read them. Large tensors are split; writing streams without a second copy."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import safetensors
import safetensors.torch
import torch

from trainwright_trainer.rundir.blocks import Block, Blocks
from trainwright_trainer.storage.base import COPY_BYTES

SHARD_BYTES = 1 << 25
"""A reader needs the memory of the tensors and of one shard, twice; so shards are small."""

DTYPES = {
    torch.float64: "F64",
    torch.float32: "F32",
    torch.float16: "F16",
    torch.bfloat16: "BF16",
    torch.int64: "I64",
    torch.int32: "I32",
    torch.int16: "I16",
    torch.int8: "I8",
    torch.uint64: "U64",
    torch.uint32: "U32",
    torch.uint16: "U16",
    torch.uint8: "U8",
    torch.bool: "BOOL",
    torch.complex64: "C64",
}


@dataclass(frozen=True)
class Part:
    """The elements of the tensor `name` from the index `begin` on, and their key in the shard."""

    name: str
    key: str
    begin: int
    data: torch.Tensor


def pack(blocks: Blocks, limit: int = SHARD_BYTES) -> list[list[Part]]:
    """The parts of each shard, ordered by name. No shard exceeds `limit` bytes, unless a single row does."""
    shards: list[list[Part]] = []
    room = 0
    for name in sorted(blocks):
        for part in _parts(name, blocks[name], limit):
            if not shards or part.data.nbytes > room:
                shards.append([])
                room = limit
            shards[-1].append(part)
            room -= part.data.nbytes
    return shards


def _parts(name: str, block: Block, limit: int) -> Iterator[Part]:
    data = block.data.detach()
    if data.nbytes <= limit or not data.dim():
        yield Part(name, name, block.first, data)
        return
    rows = max(1, limit // data[0].nbytes)
    for first in range(0, len(data), rows):
        yield Part(name, f"{name}@{first}", block.first + first * data[0].numel(), data[first : first + rows])


def chunks(parts: Sequence[Part]) -> Iterator[bytes | memoryview]:
    """The bytes of the safetensors file that holds `parts`."""
    # Wide dtypes come first, so that each tensor is aligned for readers that memory-map the file.
    ordered = sorted(parts, key=lambda part: -part.data.element_size())
    yield header(ordered)
    for part in ordered:
        yield from _bytes_of(part.data)


def header(parts: Sequence[Part]) -> bytes:
    ends = list(itertools.accumulate((part.data.nbytes for part in parts), initial=0))
    entries = {
        part.key: {"dtype": dtype_name(part.data), "shape": list(part.data.shape), "data_offsets": [begin, end]}
        for part, (begin, end) in zip(parts, itertools.pairwise(ends), strict=True)
    }
    text = json.dumps(entries, separators=(",", ":"), ensure_ascii=False).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text


def dtype_name(tensor: torch.Tensor) -> str:
    """The dtype's name in safetensors. Raises TypeError for a dtype that the format lacks."""
    if tensor.dtype not in DTYPES:
        raise TypeError(f"a checkpoint cannot hold {tensor.dtype}")
    return DTYPES[tensor.dtype]


def _bytes_of(tensor: torch.Tensor) -> Iterator[memoryview]:
    if not tensor.numel():
        return
    flat = tensor.resolve_conj().resolve_neg().contiguous().reshape(-1).view(torch.uint8)
    view = flat.numpy().data
    for begin in range(0, len(view), COPY_BYTES):
        yield view[begin : begin + COPY_BYTES]


def unpack(data: bytes) -> dict[str, torch.Tensor]:
    """The tensors of one file by key, on the CPU. Raises ValueError if `data` is not a safetensors file."""
    try:
        return safetensors.torch.load(data)
    except safetensors.SafetensorError as error:
        raise ValueError(f"no safetensors file: {error}") from error
