"""Write a checkpoint: each rank its shards first, then one rank the manifest. Old files of the folder go last."""

from __future__ import annotations

import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from trainwright_trainer.rundir import shards
from trainwright_trainer.rundir.blocks import Block, Blocks
from trainwright_trainer.rundir.hashing import Counted
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.manifest import BestWeights, Entry, Manifest, Shard, ShardBlock, score_of
from trainwright_trainer.rundir.shards import SHARD_BYTES, Part
from trainwright_trainer.rundir.snapshot import Snapshot
from trainwright_trainer.storage.base import Storage


@dataclass(frozen=True)
class WrittenShards:
    """The shards of one rank, and its blocks of each tensor in them."""

    shards: Sequence[Shard]
    tensors: dict[str, Entry]


def write_shards(
    storage: Storage, name: CheckpointName, blocks: Blocks, rank: int = 0, *, limit: int = SHARD_BYTES
) -> WrittenShards:
    """Write this rank's blocks. Raises EnvironmentFailure, and TypeError for a dtype that the format cannot hold."""
    token = secrets.token_hex(4)
    packed = shards.pack({key: block for key, block in blocks.items() if _is_written(block)}, limit)
    files = {
        f"shard-{rank:05d}-{number:05d}-{token}.safetensors": parts for number, parts in enumerate(packed, start=1)
    }
    written = [_write_shard(storage, name, file, parts) for file, parts in files.items()]
    entries = {key: Entry(shards.dtype_name(block.data), list(block.shape), []) for key, block in blocks.items()}
    for file, parts in files.items():
        for part in parts:
            entries[part.name].parts.append(ShardBlock(file, part.key, part.begin, part.data.numel()))
    return WrittenShards(written, entries)


def _is_written(block: Block) -> bool:
    """False for an empty block of a tensor that is not empty."""
    return block.data.numel() > 0 or 0 in block.shape


def _write_shard(storage: Storage, name: CheckpointName, file: str, parts: Sequence[Part]) -> Shard:
    counted = Counted(shards.chunks(parts))
    storage.write(name.folder + file, counted)
    return Shard(file, counted.size, counted.sha256)


def write_manifest(
    storage: Storage,
    name: CheckpointName,
    snapshot: Snapshot,
    ranks: Sequence[WrittenShards],
    best: BestWeights | None = None,
) -> None:
    """Write the manifest of the shards of all ranks. The checkpoint is complete when this returns.

    It replaces an older checkpoint of the same name. Raises EnvironmentFailure, and TypeError for a state that is not
    plain JSON.
    """
    written = [shard for one in ranks for shard in one.shards]
    tensors: dict[str, Entry] = {}
    for one in ranks:
        for key, entry in one.tensors.items():
            before = tensors.get(key)
            tensors[key] = entry if before is None else replace(before, parts=[*before.parts, *entry.parts])
    manifest = Manifest(name, snapshot.position, score_of(snapshot), best, snapshot.state, written, tensors)
    storage.write(name.manifest, [manifest.to_bytes()])
    delete_others(storage, name, keep=[shard.file for shard in written])


def delete_others(storage: Storage, name: CheckpointName, keep: Iterable[str]) -> None:
    """Delete the shards that no manifest names."""
    for entry in storage.list(name.folder):
        if entry not in {*keep, "manifest.json"}:
            storage.delete(name.folder + entry)
