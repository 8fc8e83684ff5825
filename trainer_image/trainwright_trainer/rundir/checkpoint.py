"""Read checkpoints. Every byte that is used is verified, and a rank reads only the files that hold its blocks."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import torch

from trainwright_trainer.rundir import hashing, shards
from trainwright_trainer.rundir.blocks import Block, Blocks, TensorSpec, copy_common, prefixed, whole
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.manifest import BestWeights, Damaged, Entry, Manifest, Shard, ShardBlock
from trainwright_trainer.rundir.snapshot import Position
from trainwright_trainer.rundir.write import delete_others
from trainwright_trainer.storage.base import Storage


class Checkpoint:
    """A complete checkpoint. Its manifest is in memory, its tensors are not."""

    def __init__(self, storage: Storage, name: CheckpointName) -> None:
        """Raises Damaged, also if there is no manifest."""
        self.name = name
        self.storage = storage
        self._manifest = read_manifest(storage, name)
        self.specs = {key: _spec(entry) for key, entry in self._manifest.tensors.items()}
        """All tensors, by dotted name."""

    @property
    def position(self) -> Position:
        return self._manifest.position

    @property
    def state(self) -> Mapping[str, Any]:
        return self._manifest.state

    @property
    def best(self) -> BestWeights | None:
        """The best weights so far, with the checkpoint that holds them; None if they are not known."""
        best = self._manifest.best
        return None if best is None else BestWeights(best.step, best.checkpoint or self.name)

    def verify(self) -> None:
        """Read all that training starts from, one file at a time. Raises Damaged."""
        self._verify(lambda _: True)
        if self.best is None or self.best.checkpoint == self.name:
            return
        try:
            holder, prefix = self._best_weights()
            holder._verify(lambda name: name.startswith(prefix))
        except Damaged as damage:
            raise Damaged(f"its best weights are in {self.best.checkpoint}: {damage}") from damage

    def fill(self, blocks: Blocks) -> None:
        """Copy the values of `blocks` into their memory. One file at a time is in memory. Raises Damaged."""
        for name in blocks:
            if name not in self.specs:
                raise Damaged(f"it has no {name}")

        def is_needed(name: str, place: ShardBlock) -> bool:
            block = blocks.get(name)
            return block is not None and place.begin < block.end and block.first < place.begin + place.elements

        for name, part in self._parts(is_needed):
            copy_common(blocks[name], part)

    def fill_best(self, blocks: Blocks) -> None:
        """Copy the best weights so far into the memory of `blocks`, whose names have no prefix. Raises Damaged."""
        holder, prefix = self._best_weights()
        holder.fill(prefixed(prefix, blocks))

    def read(self, names: Iterable[str]) -> dict[str, torch.Tensor]:
        """The whole tensors, on the CPU. Raises Damaged."""
        tensors = {name: torch.empty(self.specs[name].shape, dtype=self.specs[name].dtype) for name in names}
        self.fill(whole(tensors))
        return tensors

    def _best_weights(self) -> tuple[Checkpoint, str]:
        """The checkpoint that holds the best weights, and the prefix of their names there."""
        assert self.best is not None
        assert self.best.checkpoint is not None
        here = self.best.checkpoint == self.name
        holder = self if here else Checkpoint(self.storage, self.best.checkpoint)
        return holder, "best" if any(name.startswith("best.") for name in holder.specs) else "model"

    def _verify(self, is_meant: Callable[[str], bool]) -> None:
        for _ in self._parts(lambda name, _: is_meant(name)):
            pass

    def _parts(self, is_meant: Callable[[str, ShardBlock], bool]) -> Iterator[tuple[str, Block]]:
        """The blocks for which `is_meant` returns True, by tensor, from verified files."""
        places: dict[str, list[tuple[str, ShardBlock]]] = {}
        for name, entry in self._manifest.tensors.items():
            for place in entry.parts:
                if is_meant(name, place):
                    places.setdefault(place.file, []).append((name, place))
        known = {shard.file: shard for shard in self._manifest.shards}
        for file, meant in places.items():
            if file not in known:
                raise Damaged(f"manifest.json has no checksum of {file}")
            loaded = self._load(known[file])
            for name, place in meant:
                yield name, Block(self._part(name, place, loaded), self.specs[name].shape, place.begin)

    def _load(self, shard: Shard) -> dict[str, torch.Tensor]:
        try:
            data = self.storage.read(self.name.folder + shard.file)
        except FileNotFoundError as error:
            raise Damaged(f"{shard.file} is missing") from error
        if wrong := hashing.difference(data, shard.size, shard.sha256):
            raise Damaged(f"{shard.file}: {wrong}")
        try:
            return shards.unpack(data)
        except ValueError as error:
            raise Damaged(f"{shard.file}: {error}") from error

    def _part(self, name: str, place: ShardBlock, loaded: Mapping[str, torch.Tensor]) -> torch.Tensor:
        part = loaded.get(place.key)
        if part is None or part.numel() != place.elements or part.dtype != self.specs[name].dtype:
            raise Damaged(f"{place.file} does not hold {place.key} as the manifest says")
        return part


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
        delete_others(storage, name, keep=[shard.file for shard in manifest.shards])


def _spec(entry: Entry) -> TensorSpec:
    for dtype, word in shards.DTYPES.items():
        if word == entry.dtype:
            return TensorSpec(tuple(entry.shape), dtype)
    raise Damaged(f"manifest.json names the dtype {entry.dtype}")
