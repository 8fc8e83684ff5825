"""The model folder: weights, config, statistics, and model.json, which is written last and has their checksums."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch

from trainwright_api.problems import Mistakes
from trainwright_trainer.rundir import hashing, json_text, layout, shards
from trainwright_trainer.rundir.blocks import whole
from trainwright_trainer.rundir.hashing import Counted
from trainwright_trainer.rundir.record import read_run
from trainwright_trainer.storage.base import Chunk, Storage
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.storage.s3client.credentials import S3Credentials

WEIGHTS, CONFIG, STATISTICS, ABOUT = "weights.safetensors", "config.json", "statistics.json", "model.json"


@dataclass(frozen=True)
class ModelFolder:
    """A model as plain data. `weights`: CPU tensors by name; `config` is canonical; `statistics` by feature."""

    location: str
    weights: Mapping[str, torch.Tensor]
    config: Mapping[str, Any]
    statistics: Mapping[str, Mapping[str, Any]]
    versions: Mapping[str, str] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


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


def load(location: str, access: S3Credentials | None = None) -> ModelFolder:
    """Load the model from a model folder or from a run's folder. Raises Mistakes if there is none or it is damaged."""
    storage = storage_at(location, access, path="model")
    prefix = next((prefix for prefix in ("", layout.MODEL) if storage.exists(prefix + ABOUT)), None)
    if prefix is None:
        raise Mistakes.one("model", _why_none(storage))
    place = f"{storage.location}/{prefix}".rstrip("/")
    try:
        about = json_text.unseal(storage.read(prefix + ABOUT))
    except json_text.BrokenSeal as error:
        raise _damaged(f"{place}/{ABOUT}", str(error)) from error
    if about["format"] != layout.FORMAT:
        found = f"{place} has format {about['format']}, this version reads {layout.FORMAT}"
        raise Mistakes.one("model", f"{found}. Use the version that wrote it, or train the model anew.")
    config, statistics, weights = (_read(storage, prefix, name, about, place) for name in (CONFIG, STATISTICS, WEIGHTS))
    return ModelFolder(
        place,
        shards.unpack(weights),
        json_text.parse(config),
        json_text.parse(statistics),
        about["versions"],
        about["extra"],
    )


def _write(storage: Storage, name: str, chunks: Iterable[Chunk]) -> dict[str, Any]:
    counted = Counted(chunks)
    storage.write(layout.MODEL + name, counted)
    return {"size": counted.size, "sha256": counted.sha256}


def _read(storage: Storage, prefix: str, name: str, about: Mapping[str, Any], place: str) -> bytes:
    try:
        data = storage.read(prefix + name)
    except FileNotFoundError as error:
        raise _damaged(f"{place}/{name}", "it is missing") from error
    written = about["files"][name]
    if wrong := hashing.difference(data, written["size"], written["sha256"]):
        raise _damaged(f"{place}/{name}", wrong)
    return data


def _damaged(place: str, why: str) -> Mistakes:
    return Mistakes.one("model", f"{place} is damaged: {why}")


def _why_none(storage: Storage) -> str:
    run = read_run(storage)
    if run is not None:
        return f"{storage.location} is a run without a model yet ({run}). Go on with it by --resume."
    if not storage.list():
        return f"there is no model folder {storage.location}. A model is what a run leaves in <output>/model."
    return f"{storage.location} is no model: it holds no {ABOUT}. A model is what a run leaves in <output>/model."
