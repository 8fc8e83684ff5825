"""The model folder: weights, config, statistics, and model.json, which is written last and has their checksums."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainwright_api.problems import Mistakes, nearest
from trainwright_trainer.rundir import hashing, json_text, layout
from trainwright_trainer.rundir.hashing import Counted
from trainwright_trainer.rundir.record import read_run
from trainwright_trainer.storage.base import Chunk, Storage
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.storage.s3client.credentials import S3Credentials

if TYPE_CHECKING:
    import torch

WEIGHTS, CONFIG, STATISTICS, ABOUT = "weights.safetensors", "config.json", "statistics.json", "model.json"
_WHAT_A_MODEL_IS = "A model is what a run leaves in <output>/model."


@dataclass(frozen=True)
class ModelFolder:
    """A model as plain data. `weights`: CPU tensors by name; `config` is canonical; `statistics` by feature."""

    location: str
    weights: Mapping[str, torch.Tensor]
    config: Mapping[str, Any]
    statistics: Mapping[str, Mapping[str, Any]]
    versions: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ModelFacts:
    """A model without its weights. `digest` is a hash of its files."""

    location: str
    digest: str
    config: Mapping[str, Any]
    statistics: Mapping[str, Mapping[str, Any]]


def save(
    storage: Storage,
    weights: Mapping[str, torch.Tensor],
    config: Mapping[str, Any],
    statistics: Mapping[str, Any],
    *,
    attempt: int,
    versions: Mapping[str, str],
    extra: Mapping[str, Any] | None = None,
) -> None:
    """Write `model/` of a run. The model exists only when model.json is written. Raises EnvironmentFailure."""
    from trainwright_trainer.rundir import shards  # it needs torch, and the facts of a model do not
    from trainwright_trainer.rundir.blocks import whole

    storage.delete(layout.MODEL + ABOUT)
    storage.delete_tree(layout.MODEL)
    parts = [part for shard in shards.pack(whole(weights), sys.maxsize) for part in shard]
    files = {
        CONFIG: _write(storage, CONFIG, [json_text.exact(config)]),
        STATISTICS: _write(storage, STATISTICS, [json_text.exact(statistics)]),
        WEIGHTS: _write(storage, WEIGHTS, shards.chunks(parts)),
    }
    body = {"format": layout.FORMAT, "attempt": attempt, "files": files, "versions": versions, "extra": extra or {}}
    storage.write(layout.MODEL + ABOUT, [json_text.seal(body)])


def load(location: str, access: S3Credentials | None = None, path: str = "model") -> ModelFolder:
    """Load the model from a model folder or from a run's folder. Raises Mistakes at `path` if there is none or it is
    damaged.
    """
    from trainwright_trainer.rundir import shards

    files = _opened(location, access, path)
    return ModelFolder(
        files.place,
        shards.unpack(files.read(WEIGHTS)),
        json_text.parse(files.read(CONFIG)),
        json_text.parse(files.read(STATISTICS)),
        files.about["versions"],
        files.about["extra"],
    )


def check(location: str) -> None:
    """Raise `Mistakes` if there is no model. Only `load` detects damage of its files."""
    _opened(location, None, "model")


def load_facts(location: str, access: S3Credentials | None, path: str) -> ModelFacts:
    """The model without its weights. Raises the exceptions of `load`."""
    files = _opened(location, access, path)
    checksums = json_text.exact({name: file["sha256"] for name, file in files.about["files"].items()})
    config, statistics = (json_text.parse(files.read(name)) for name in (CONFIG, STATISTICS))
    return ModelFacts(files.place, hashlib.sha256(checksums).hexdigest(), config, statistics)


@dataclass(frozen=True)
class _Files:
    """The files of a model at `place`, and the content of its model.json. `path`: the path of errors in the job."""

    storage: Storage
    prefix: str
    about: Mapping[str, Any]
    path: str

    @property
    def place(self) -> str:
        return f"{self.storage.location}/{self.prefix}".rstrip("/")

    def read(self, name: str) -> bytes:
        try:
            data = self.storage.read(self.prefix + name)
        except FileNotFoundError as error:
            raise _damaged(self.path, f"{self.place}/{name}", "it is missing") from error
        written = self.about["files"][name]
        if wrong := hashing.difference(data, written["size"], written["sha256"]):
            raise _damaged(self.path, f"{self.place}/{name}", wrong)
        return data


def _opened(location: str, access: S3Credentials | None, path: str) -> _Files:
    storage = storage_at(location, access, path=path)
    prefix = next((prefix for prefix in ("", layout.MODEL) if storage.exists(prefix + ABOUT)), None)
    if prefix is None:
        raise Mistakes.one(path, _why_none(storage))
    try:
        files = _Files(storage, prefix, json_text.unseal(storage.read(prefix + ABOUT)), path)
    except json_text.BrokenSeal as error:
        raise _damaged(path, f"{storage.location}/{prefix}{ABOUT}", str(error)) from error
    if files.about["format"] != layout.FORMAT:
        found = f"{files.place} has format {files.about['format']}, this version reads {layout.FORMAT}"
        raise Mistakes.one(path, f"{found}. Use the version that wrote it, or train the model anew.")
    return files


def _write(storage: Storage, name: str, chunks: Iterable[Chunk]) -> dict[str, Any]:
    counted = Counted(chunks)
    storage.write(layout.MODEL + name, counted)
    return {"size": counted.size, "sha256": counted.sha256}


def _damaged(path: str, place: str, why: str) -> Mistakes:
    return Mistakes.one(path, f"{place} is damaged: {why}")


def _why_none(storage: Storage) -> str:
    run = read_run(storage)
    if run is not None and run.done:
        return f"{storage.location} is a run that is done ({run}), but it holds no model. {_WHAT_A_MODEL_IS}"
    if run is not None:
        return f"{storage.location} is a run without a model yet ({run}). Go on with it by --resume."
    folder = storage.root
    if isinstance(folder, Path) and folder.is_file():
        return f"{folder} is a file. {_WHAT_A_MODEL_IS}"
    entries = storage.list()
    if not entries:
        hint = _nearest(folder) if isinstance(folder, Path) else ""
        return f"there is no model folder {folder}.{hint} {_WHAT_A_MODEL_IS}"
    runs = (entry for entry in entries if entry.endswith("/") and storage.exists(f"{entry}{layout.MODEL}{ABOUT}"))
    if run_name := next(runs, ""):
        return f"{folder} is no model, but a folder of runs: name one of them, as in {folder / run_name.rstrip('/')}."
    return f"{folder} is no model: it holds no {ABOUT}. {_WHAT_A_MODEL_IS}"


def _nearest(folder: Path) -> str:
    """A hint at the folder beside it whose name is nearest; "" without one."""
    near = None
    with suppress(OSError):
        near = nearest(folder.name, [path.name for path in folder.parent.iterdir() if path.is_dir() and path != folder])
    return f" Nearest: {folder.with_name(near)}." if near else ""
