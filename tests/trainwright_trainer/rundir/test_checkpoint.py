"""Checkpoints are read bit for bit or refused, after any incomplete write, truncation, bit flip or loss."""

from __future__ import annotations

import json
import math
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import safetensors.torch
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.checkpoints import snapshot_of, tensors_of, write

from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.rundir import checkpoint, json_text, listing
from trainwright_trainer.rundir.blocks import own_part, whole
from trainwright_trainer.rundir.checkpoint import Checkpoint
from trainwright_trainer.rundir.layout import FORMAT, CheckpointName
from trainwright_trainer.rundir.manifest import BestWeights, Damaged
from trainwright_trainer.rundir.shards import DTYPES
from trainwright_trainer.rundir.snapshot import Position, Snapshot
from trainwright_trainer.rundir.write import write_manifest, write_shards
from trainwright_trainer.storage.local import FolderStorage

NAME = CheckpointName(12, 1)


def bits(tensor: torch.Tensor) -> tuple[torch.dtype, tuple[int, ...], bytes]:
    plain = tensor.detach().contiguous().reshape(-1)
    return tensor.dtype, tuple(tensor.shape), plain.view(torch.uint8).numpy().tobytes() if plain.numel() else b""


def assert_same_bits(found: Mapping[str, torch.Tensor], expected: Mapping[str, torch.Tensor]) -> None:
    assert found.keys() == expected.keys()
    for name in expected:
        assert bits(found[name]) == bits(expected[name]), name


def there_and_back(storage: FolderStorage, tensors: Mapping[str, torch.Tensor], limit: int = 1 << 30) -> Any:
    return tensors_of(storage, write(storage, snapshot_of(tensors), limit=limit))


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3, 0, 2), (5,), (7, 3)], ids=str)
def test_every_dtype_and_shape_comes_back_to_the_bit(
    storage: FolderStorage, dtype: torch.dtype, shape: tuple[int, ...]
) -> None:
    size = torch.empty(shape, dtype=dtype).nbytes
    raw = torch.arange(size, dtype=torch.int64) * 37 % (2 if dtype is torch.bool else 251)
    tensor = raw.to(torch.uint8).view(dtype).reshape(shape) if size else torch.empty(shape, dtype=dtype)
    assert_same_bits(there_and_back(storage, {"t": tensor}), {"t": tensor})


def test_floats_that_are_no_numbers_keep_their_bits(storage: FolderStorage) -> None:
    odd = torch.tensor([0x7FC00001, 0x7F800001, -0x400000, -(2**31), 1], dtype=torch.int32).view(torch.float32)
    assert_same_bits(there_and_back(storage, {"t": odd}), {"t": odd})


@settings(deadline=None, max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 5)), max_size=6), st.integers(1, 200))
def test_any_cutting_into_shards_comes_back_to_the_bit(
    tmp_path_factory: pytest.TempPathFactory, shapes: list[tuple[int, int]], limit: int
) -> None:
    tensors = {f"t{index}": torch.randn(shape) for index, shape in enumerate(shapes)}
    storage = FolderStorage(tmp_path_factory.mktemp("run"))
    assert_same_bits(there_and_back(storage, tensors, limit), tensors)


def test_shards_stay_below_the_limit_and_a_large_tensor_is_cut(storage: FolderStorage) -> None:
    tensors = {"large": torch.randn(100, 8), "small": torch.randn(4)}
    there_and_back(storage, tensors, limit=1000)
    manifest = checkpoint.read_manifest(storage, NAME)
    entry = manifest.tensors["large"]
    assert entry.shape == [100, 8]
    assert [part.begin for part in entry.parts] == [0, 31 * 8, 62 * 8, 93 * 8]
    assert all(shard.size < 1000 + 400 for shard in manifest.shards)


def test_a_shard_is_a_file_that_safetensors_reads(storage: FolderStorage) -> None:
    tensors = {"b": torch.randn(3).bfloat16(), "flag": torch.tensor(True), "w": torch.randn(2, 2)}
    there_and_back(storage, tensors)
    (shard,) = checkpoint.read_manifest(storage, NAME).shards
    assert_same_bits(safetensors.torch.load_file(storage.path(NAME.folder + shard.file)), tensors)


def test_views_are_written_as_they_look(storage: FolderStorage) -> None:
    base = torch.randn(4, 6)
    views = {"t": base.t(), "step": base[:, ::2], "wide": base[:1].expand(5, 6), "w": torch.nn.Parameter(base)}
    assert_same_bits(there_and_back(storage, views), views)


def test_position_state_and_score_come_back(storage: FolderStorage) -> None:
    state = {"best": math.inf, "history": [{"loss": 0.1 + 0.2}], "none": None, "seed": 2**64 - 1}
    name = write(storage, Snapshot(Position(12, 3, 99), {}, state, 0.25), attempt=4)
    found = checkpoint.read_manifest(storage, name)
    assert (found.position, found.state, found.score) == (Position(12, 3, 99), state, 0.25)


def test_a_score_that_is_no_number_is_none(storage: FolderStorage) -> None:
    name = write(storage, Snapshot(Position(12, 0, 0), {}, {}, math.nan))
    assert checkpoint.read_manifest(storage, name).score is None


@settings(deadline=None, max_examples=40)
@given(st.integers(1, 4), st.integers(1, 5), st.lists(st.integers(0, 7), max_size=3), st.integers(40, 400))
def test_any_number_of_ranks_reads_what_any_number_wrote(
    tmp_path_factory: pytest.TempPathFactory, writers: int, readers: int, shape: list[int], limit: int
) -> None:
    tensor = torch.randn(shape)
    storage = FolderStorage(tmp_path_factory.mktemp("run"))
    block = whole({"t": tensor})["t"]
    ranks = [Snapshot(Position(12, 1, 0), {"t": own_part(block, rank, writers)}, {}) for rank in range(writers)]
    name = write(storage, *ranks, limit=limit)
    assert_same_bits(tensors_of(storage, name), {"t": tensor})
    for rank in range(readers):
        part = own_part(block, rank, readers)
        found = replace(part, data=torch.zeros_like(part.data))
        Checkpoint(storage, name).fill({"t": found})
        assert bits(found.data) == bits(part.data)


def test_a_rank_reads_only_the_files_that_hold_its_blocks(storage: FolderStorage) -> None:
    block = whole({"t": torch.arange(12.0)})["t"]
    ranks = [Snapshot(Position(12, 1, 0), {"t": own_part(block, rank, 3)}, {}) for rank in range(3)]
    name = write(storage, *ranks)
    for file in files_of(storage)[2:]:
        file.unlink()
    own = replace(own_part(block, 0, 3), data=torch.zeros(4))
    Checkpoint(storage, name).fill({"t": own})
    assert own.data.tolist() == [0.0, 1.0, 2.0, 3.0]
    with pytest.raises(Damaged, match=r"shard-00001-00001-.* is missing"):
        Checkpoint(storage, name).verify()


def using_the_best_of(storage: FolderStorage) -> CheckpointName:
    """A checkpoint of step 13 whose best weights are those of the checkpoint of step 12."""
    holder = write(storage, snapshot_of({"model.w": torch.ones(3)}))
    after = snapshot_of({"model.w": torch.zeros(3)}, Position(13, 1, 0))
    name = CheckpointName(13, 1)
    write_manifest(storage, name, after, [write_shards(storage, name, after.tensors)], BestWeights(12, holder))
    return name


def test_the_best_weights_can_be_in_another_checkpoint(storage: FolderStorage) -> None:
    found = Checkpoint(storage, using_the_best_of(storage))
    found.verify()
    best = whole({"w": torch.zeros(3)})
    found.fill_best(best)
    assert best["w"].data.tolist() == [1.0, 1.0, 1.0]
    assert found.best == BestWeights(12, NAME)


def test_damage_to_the_best_weights_elsewhere_is_found_and_named(storage: FolderStorage) -> None:
    found = Checkpoint(storage, using_the_best_of(storage))
    shard = files_of(storage)[1]
    shard.write_bytes(shard.read_bytes()[:-1])
    with pytest.raises(Damaged, match=f"its best weights are in {NAME}: {shard.name}: has"):
        found.verify()
    checkpoint.delete(storage, NAME)
    with pytest.raises(Damaged, match=f"its best weights are in {NAME}: manifest.json is missing"):
        found.verify()


def test_what_the_format_cannot_hold_is_refused_before_the_manifest(storage: FolderStorage) -> None:
    for snapshot in (snapshot_of({"t": torch.zeros(1, dtype=torch.complex128)}), snapshot_of({}, thing=object())):
        with pytest.raises(TypeError):
            write(storage, snapshot)
        assert listing.complete(storage) == []


# --- faults ----------------------------------------------------------------------------------------------------------

TENSORS = {"model.w": torch.arange(64, dtype=torch.float32), "optimizer.step": torch.tensor(12)}


@pytest.fixture
def written(storage: FolderStorage) -> FolderStorage:
    write(storage, snapshot_of(TENSORS), limit=256)
    assert len(checkpoint.read_manifest(storage, NAME).shards) == 2
    return storage


def files_of(storage: FolderStorage) -> list[Path]:
    return sorted(storage.path(NAME.folder).iterdir())


def cut(at: Callable[[int], int]) -> Callable[[bytes], bytes]:
    return lambda data: data[: at(len(data))]


def flipped(at: Callable[[int], int]) -> Callable[[bytes], bytes]:
    return lambda data: data[: at(len(data))] + bytes([data[at(len(data))] ^ 0x10]) + data[at(len(data)) + 1 :]


PLACES: dict[str, Callable[[int], int]] = {
    "the first byte": lambda _: 0,
    "the second byte": lambda _: 1,
    "the length of the header": lambda _: 7,
    "the header": lambda _: 20,
    "the middle": lambda size: size // 2,
    "the last byte but one": lambda size: size - 2,
    "the last byte": lambda size: size - 1,
}


@pytest.mark.parametrize("which", [0, 1, 2], ids=["manifest", "first shard", "second shard"])
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("harm", [cut, flipped])
def test_every_harm_to_every_file_is_found(written: FolderStorage, which: int, place: str, harm: Any) -> None:
    path = files_of(written)[which]
    path.write_bytes(harm(PLACES[place])(path.read_bytes()))
    with pytest.raises(Damaged, match=path.name):
        tensors_of(written, NAME)


@pytest.mark.parametrize("which", [0, 1, 2], ids=["manifest", "first shard", "second shard"])
def test_a_missing_file_and_an_added_byte_are_found(written: FolderStorage, which: int) -> None:
    path = files_of(written)[which]
    path.write_bytes(path.read_bytes() + b"\n")
    with pytest.raises(Damaged, match=path.name):
        tensors_of(written, NAME)
    path.unlink()
    with pytest.raises(Damaged, match=f"{path.name} is missing"):
        tensors_of(written, NAME)


def test_two_shards_that_changed_places_are_found(written: FolderStorage) -> None:
    _, first, second = files_of(written)
    contents = first.read_bytes(), second.read_bytes()
    first.write_bytes(contents[1])
    second.write_bytes(contents[0])
    with pytest.raises(Damaged):
        tensors_of(written, NAME)


def test_the_manifest_of_another_checkpoint_is_found(written: FolderStorage) -> None:
    write(written, snapshot_of(TENSORS, Position(13, 1, 0)))
    written.write(NAME.manifest, [written.read(CheckpointName(13, 1).manifest)])
    with pytest.raises(Damaged, match="that of 0000000013-1"):
        tensors_of(written, NAME)


def resealed(storage: FolderStorage, change: Callable[[dict[str, Any]], None]) -> None:
    body = json_text.unseal(storage.read(NAME.manifest))
    change(body)
    storage.write(NAME.manifest, [json_text.seal(body)])


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda body: body.update(format=1), id="an older format"),
        pytest.param(lambda body: body.pop("tensors"), id="no tensors"),
        pytest.param(lambda body: body.update(shards=7), id="shards of another type"),
        pytest.param(lambda body: body["tensors"]["model.w"].update(dtype="F64"), id="another dtype"),
        pytest.param(lambda body: body["tensors"]["model.w"].update(shape=[65]), id="a larger tensor"),
        pytest.param(lambda body: body["tensors"]["model.w"]["parts"].clear(), id="no parts"),
        pytest.param(lambda body: body["tensors"]["model.w"]["parts"][0].update(key="other"), id="another key"),
        pytest.param(lambda body: body["tensors"]["model.w"]["parts"][0].update(file="other"), id="another file"),
    ],
)
def test_a_manifest_that_another_program_wrote_wrongly_is_damage_not_a_crash(
    written: FolderStorage, change: Any
) -> None:
    resealed(written, change)
    with pytest.raises(Damaged):
        tensors_of(written, NAME)


def test_fields_that_this_version_does_not_know_are_passed_over(written: FolderStorage) -> None:
    resealed(written, lambda body: body.update(later="x", position={**body["position"], "lane": 3}))
    assert_same_bits(tensors_of(written, NAME), TENSORS)


def test_stray_files_harm_nothing(written: FolderStorage) -> None:
    written.path(NAME.folder + ".manifest.json.0123456789abcdef.tmp").write_bytes(b"torn")
    written.path(NAME.folder + "shard-00009-deadbeef.safetensors").write_bytes(b"torn")
    written.write("checkpoints/notes/of-the-user.txt", [b"mine"])
    assert listing.complete(written) == [NAME]
    assert_same_bits(tensors_of(written, NAME), TENSORS)


def test_a_folder_without_a_manifest_is_no_checkpoint(written: FolderStorage) -> None:
    written.delete(NAME.manifest)
    assert listing.names(written) == [NAME]
    assert listing.complete(written) == []


def test_writing_the_same_position_again_replaces_and_leaves_no_old_shard(written: FolderStorage) -> None:
    write(written, snapshot_of({"model.w": torch.ones(3)}))
    assert_same_bits(tensors_of(written, NAME), {"model.w": torch.ones(3)})
    assert len(files_of(written)) == 2


def test_an_older_write_of_the_same_position_survives_one_that_fails(
    written: FolderStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = FolderStorage.write

    def fail(self: FolderStorage, name: str, chunks: Any, *, durable: bool = True) -> None:
        if name == NAME.manifest:
            raise EnvironmentFailure("the disk is full")
        original(self, name, chunks, durable=durable)

    monkeypatch.setattr(FolderStorage, "write", fail)
    with pytest.raises(EnvironmentFailure):
        write(written, snapshot_of({"model.w": torch.ones(3)}))
    assert_same_bits(tensors_of(written, NAME), TENSORS)
    checkpoint.sweep(written, NAME)
    assert len(files_of(written)) == 3
    assert_same_bits(tensors_of(written, NAME), TENSORS)


def test_the_manifest_goes_first_when_a_checkpoint_is_deleted(
    written: FolderStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(_self: FolderStorage, _prefix: str) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(FolderStorage, "delete_tree", killed)
    with pytest.raises(KeyboardInterrupt):
        checkpoint.delete(written, NAME)
    assert listing.complete(written) == []
    assert len(files_of(written)) == 2


# For each place, a child process stops in the middle of a write, reports this, and is killed there, never too late.
# One program forks all children, because importing torch takes longer than all other steps.
_WRITERS = """
import os, signal, sys
from pathlib import Path
import torch
from trainwright_trainer.rundir.blocks import whole
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.snapshot import Position, Snapshot
from trainwright_trainer.rundir.write import write_manifest, write_shards
from trainwright_trainer.storage.local import FolderStorage

torn, tensors = CheckpointName(13, 1), {f"t{i}": torch.full((5_000_000,), float(i)) for i in range(4)}
root, *places = sys.argv[1:]

class Stopping(FolderStorage):
    def write(self, name, chunks, *, durable=True):
        super().write(name, self.stopping(name, chunks), durable=durable)

    def stopping(self, name, chunks):
        for number, chunk in enumerate(chunks):
            yield chunk
            if place in f"{name}:{number}":
                os.write(writer, name.encode())
                signal.pause()

for place in places:
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        storage = Stopping(Path(root, place))
        written = write_shards(storage, torn, whole(tensors), limit=1 << 25)
        write_manifest(storage, torn, Snapshot(Position(13, 0, 0), {}, {}), [written])
        os._exit(1)
    os.close(writer)
    name = os.read(reader, 1000).decode()
    os.kill(child, signal.SIGKILL)
    print(name, os.waitpid(child, 0)[1])
"""


def test_sigkill_in_the_middle_of_a_write_leaves_the_checkpoint_before_it(tmp_path: Path) -> None:
    places = ["shard-00000-00001", "shard-00000-00003", "manifest.json:0"]
    storages = [FolderStorage(tmp_path / place) for place in places]
    for storage in storages:
        write(storage, snapshot_of(TENSORS))
    command = [sys.executable, "-c", _WRITERS, str(tmp_path), *places]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    torn = CheckpointName(13, 1)
    for storage, place, line in zip(storages, places, lines, strict=True):
        assert line.startswith(torn.folder + place.partition(":")[0])
        assert line.endswith(f" {int(signal.SIGKILL)}"), "it was alive when it was killed"
        assert not storage.exists(torn.manifest)
        assert list(storage.path(torn.folder).glob(".*.tmp")), "the kill landed in the middle of a write"
        assert listing.complete(storage) == [NAME]
        assert_same_bits(tensors_of(storage, NAME), TENSORS)


def test_nothing_of_a_checkpoint_is_a_pickle(written: FolderStorage) -> None:
    manifest, *shards = files_of(written)
    assert json.loads(manifest.read_bytes())["body"]["format"] == FORMAT
    for shard in shards:
        data = shard.read_bytes()
        assert json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
