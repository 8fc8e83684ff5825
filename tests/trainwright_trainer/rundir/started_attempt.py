"""A job and its attempts, as the tests of this folder start and end them."""

from __future__ import annotations

import copy
import json
from typing import Any

from trainwright_trainer.errors import Outcome, OutcomeClass
from trainwright_trainer.rundir import layout
from trainwright_trainer.rundir.attempt import Attempt, begin
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.preflight import ExistingRun
from trainwright_trainer.rundir.record import write_outcome
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.local import FolderStorage

JOB: dict[str, Any] = {"spec": {"dataset": "f.csv", "seed": 42, "config": {"trainer": {"epochs": 5}}}}


def job(epochs: int = 5, seed: int = 42) -> dict[str, Any]:
    changed = copy.deepcopy(JOB)
    changed["spec"]["seed"] = seed
    changed["spec"]["config"]["trainer"]["epochs"] = epochs
    return changed


def start(storage: Storage, how: ExistingRun = ExistingRun.NEW, wanted: dict[str, Any] = JOB, **more: Any) -> Attempt:
    return begin(storage, wanted, how, name="flights", **more)


def written_start(storage: Storage, number: int) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(storage.read(layout.start(number)))
    return content


def end(storage: Storage, number: int, kind: OutcomeClass) -> None:
    write_outcome(storage, number, Outcome(kind, "so it ended"))


def harm(storage: FolderStorage, name: CheckpointName) -> None:
    shard = next(path for path in storage.path(name.folder).iterdir() if path.suffix == ".safetensors")
    shard.write_bytes(shard.read_bytes()[:-1])
