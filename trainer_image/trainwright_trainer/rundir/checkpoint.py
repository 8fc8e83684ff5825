"""Write and read checkpoints. The shards are written first, the manifest last. Reading verifies every byte."""

from __future__ import annotations

import math
import secrets
from collections.abc import Iterable, Mapping, Sequence

import torch

from trainwright_trainer.rundir import hashing, shards
from trainwright_trainer.rundir.hashing import Counted
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.manifest import Damaged, Entry, Manifest, Shard, ShardBlock, score_of
from trainwright_trainer.rundir.shards import SHARD_BYTES, Part
from trainwright_trainer.rundir.snapshot import Snapshot
from trainwright_trainer.storage.base import Storage


class Checkpoint:
    """A checkpoint that was read and fully verified. It holds its snapshot until `take`."""

    def __init__(self, name: CheckpointName, snapshot: Snapshot) -> None:
        self.name, self.position = name, snapshot.position
        self._snapshot: Snapshot | None = snapshot

    def take(self) -> Snapshot:
        """The snapshot. Called once at most."""
        assert self._snapshot is not None
        found, self._snapshot = self._snapshot, None
        return found


def write(storage: Storage, snapshot: Snapshot, attempt: int, *, limit: int = SHARD_BYTES) -> CheckpointName:
    """Write all of `snapshot`. The checkpoint is complete when this returns.

    It replaces the attempt's own checkpoint of the same step. Raises EnvironmentFailure, and TypeError for a dtype or
    a state that the format cannot hold.
    """
    name = CheckpointName(snapshot.position.step, attempt)
    firsts = _aliases(snapshot.tensors)
    packed = shards.pack({first: snapshot.tensors[first] for first in set(firsts.values())}, limit)
    token = secrets.token_hex(4)
    files = {f"shard-{number:05d}-{token}.safetensors": parts for number, parts in enumerate(packed, start=1)}
    written = [_write_shard(storage, name, file, parts) for file, parts in files.items()]
    tensors = _entries(snapshot.tensors, firsts, files)
    manifest = Manifest(name, snapshot.position, score_of(snapshot), snapshot.state, written, tensors)
    storage.write(name.manifest, [manifest.to_bytes()])
    _clear(storage, name, keep=files)
    return name


def read(storage: Storage, name: CheckpointName) -> Snapshot:
    """The snapshot, bit for bit. Raises Damaged if any byte is missing or changed.

    One shard is in memory at a time, beside the tensors. Names that were tied get their own memory.
    """
    manifest = read_manifest(storage, name)
    tensors = {key: torch.empty(entry.shape, dtype=_dtype(entry)) for key, entry in manifest.tensors.items()}
    missing = {key: tensor.numel() for key, tensor in tensors.items()}
    places = _places(manifest)
    for shard in manifest.shards:
        loaded = _read_shard(storage, name, shard)
        for key, block in places.get(shard.file, ()):
            _place(key, tensors[key], _block(manifest.tensors[key], block, loaded), block.offset)
            missing[key] -= math.prod(block.shape)
    for key, elements in missing.items():
        if elements:
            raise Damaged(f"its parts do not make up {key}")
    return Snapshot(manifest.position, tensors, manifest.state, manifest.score)


def read_manifest(storage: Storage, name: CheckpointName) -> Manifest:
    """The manifest of checkpoint `name`. Raises Damaged, also if there is no manifest."""
    try:
        return Manifest.from_bytes(storage.read(name.manifest), name)
    except FileNotFoundError as error:
        raise Damaged("manifest.json is missing") from error


def delete(storage: Storage, name: CheckpointName) -> None:
    """Delete the checkpoint. The manifest is deleted first, so that a kill leaves no complete checkpoint."""
    storage.delete(name.manifest)
    storage.delete_tree(name.folder)


def sweep(storage: Storage, name: CheckpointName) -> None:
    """Clean up after a failed write: keep the files of an older complete write of `name`, delete the others."""
    try:
        manifest = read_manifest(storage, name)
    except Damaged:
        delete(storage, name)
    else:
        _clear(storage, name, keep=[shard.file for shard in manifest.shards])


def _aliases(tensors: Mapping[str, torch.Tensor]) -> dict[str, str]:
    """Map each name to the first name of the same view of the same memory, so that tied weights are written once."""
    firsts: dict[object, str] = {}
    return {name: firsts.setdefault(_memory(name, tensors[name]), name) for name in sorted(tensors)}


def _memory(name: str, tensor: torch.Tensor) -> object:
    if not tensor.numel():
        return name
    flags = (tensor.dtype, tensor.is_conj(), tensor.is_neg())
    return (tensor.data_ptr(), tuple(tensor.shape), tensor.stride(), flags)


def _write_shard(storage: Storage, name: CheckpointName, file: str, parts: Sequence[Part]) -> Shard:
    counted = Counted(shards.chunks(parts))
    storage.write(name.folder + file, counted)
    return Shard(file, counted.size, counted.sha256)


def _entries(
    tensors: Mapping[str, torch.Tensor], firsts: Mapping[str, str], files: Mapping[str, Sequence[Part]]
) -> dict[str, Entry]:
    blocks: dict[str, list[ShardBlock]] = {first: [] for first in firsts.values()}
    for file, parts in files.items():
        for part in parts:
            blocks[part.name].append(ShardBlock(file, part.key, part.offset, list(part.data.shape)))
    return {
        name: Entry(shards.dtype_name(tensor), list(tensor.shape), blocks[firsts[name]])
        for name, tensor in tensors.items()
    }


def _clear(storage: Storage, name: CheckpointName, keep: Iterable[str]) -> None:
    for entry in storage.list(name.folder):
        if entry not in {*keep, "manifest.json"}:
            storage.delete(name.folder + entry)


def _read_shard(storage: Storage, name: CheckpointName, shard: Shard) -> dict[str, torch.Tensor]:
    try:
        data = storage.read(name.folder + shard.file)
    except FileNotFoundError as error:
        raise Damaged(f"{shard.file} is missing") from error
    if wrong := hashing.difference(data, shard.size, shard.sha256):
        raise Damaged(f"{shard.file}: {wrong}")
    try:
        return shards.unpack(data)
    except ValueError as error:
        raise Damaged(f"{shard.file}: {error}") from error


def _places(manifest: Manifest) -> dict[str, list[tuple[str, ShardBlock]]]:
    """The tensors and their blocks in each file."""
    found: dict[str, list[tuple[str, ShardBlock]]] = {}
    for key, entry in manifest.tensors.items():
        for block in entry.parts:
            found.setdefault(block.file, []).append((key, block))
    return found


def _dtype(entry: Entry) -> torch.dtype:
    for dtype, word in shards.DTYPES.items():
        if word == entry.dtype:
            return dtype
    raise Damaged(f"manifest.json names the dtype {entry.dtype}")


def _block(entry: Entry, block: ShardBlock, loaded: Mapping[str, torch.Tensor]) -> torch.Tensor:
    part = loaded.get(block.key)
    if part is None or list(part.shape) != block.shape or shards.DTYPES.get(part.dtype) != entry.dtype:
        raise Damaged(f"{block.file} does not hold {block.key} as the manifest says")
    return part


def _place(name: str, whole: torch.Tensor, part: torch.Tensor, offset: Sequence[int]) -> None:
    if whole.ndim != part.ndim or len(offset) != part.ndim:
        raise Damaged(f"its parts do not make up {name}")
    corner = [begin + length for begin, length in zip(offset, part.shape, strict=True)]
    if any(end > length for end, length in zip(corner, whole.shape, strict=True)):
        raise Damaged(f"its parts do not make up {name}")
    whole[tuple(slice(begin, end) for begin, end in zip(offset, corner, strict=True))] = part
