"""Ray's TorchTrainer with `restore(path)`, which Ray has removed: the trainer is described in a file beside its runs.

The file is JSON with the name of the train function. Ray 2.7 pickled the function itself.
"""

from __future__ import annotations

import importlib
import json
import os
from collections.abc import Callable, Mapping
from typing import Any, Self

from pyarrow import fs
from ray.train.v2.api.config import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig
from ray.train.v2.torch.torch_trainer import TorchTrainer as RaysTorchTrainer

FILE = "trainer.json"
_SCALING = ("num_workers", "use_gpu", "resources_per_worker", "placement_strategy")
_CHECKPOINT = ("num_to_keep", "checkpoint_score_attribute", "checkpoint_score_order")
_NOT_WRITTEN = ("torch_config", "datasets", "dataset_config", "validation_config")
"""Arguments that no file can describe: `restore` takes them again."""


class TorchTrainer(RaysTorchTrainer):
    """`fit` writes the description, and `restore` reads it. Everything else is Ray's."""

    def __init__(self, train_loop_per_worker: Callable[..., Any], **options: Any) -> None:
        super().__init__(train_loop_per_worker, **options)
        self._given = tuple(name for name in _NOT_WRITTEN if options.get(name) is not None)

    def fit(self) -> Any:
        """Train, or go on from the newest checkpoint of the run that the `RunConfig` names."""
        run_config: Any = self.run_config  # it is annotated as Ray's older one
        context = run_config.storage_context
        files, folder = context.storage_filesystem, context.experiment_fs_path
        files.create_dir(folder, recursive=True)
        with files.open_output_stream(f"{folder}/{FILE}") as file:
            file.write(json.dumps(self._description(), indent=1).encode())
        return super().fit()

    @classmethod
    def can_restore(cls, path: str, storage_filesystem: fs.FileSystem | None = None) -> bool:
        """True if a run of this class lies at the path or URI."""
        files, folder = _opened(path, storage_filesystem)
        return bool(files.get_file_info(f"{folder}/{FILE}").type == fs.FileType.File)

    @classmethod
    def restore(
        cls,
        path: str,
        train_loop_per_worker: Callable[..., Any] | None = None,
        storage_filesystem: fs.FileSystem | None = None,
        **options: Any,
    ) -> Self:
        """The trainer of the run at a path or URI. Its `fit` goes on from the newest checkpoint.

        The function is imported by its name; give it if it has none, as a lambda. `options` replace those of the first
        trainer. Raises FileNotFoundError without a run, and ValueError if an argument has to be given again.
        """
        files, folder = _opened(path, storage_filesystem)
        if not cls.can_restore(path, storage_filesystem):
            raise FileNotFoundError(f"{path} holds no {FILE}: trainwright.ray.TorchTrainer writes it when it begins")
        with files.open_input_file(f"{folder}/{FILE}") as file:
            found = json.loads(file.read())
        missing = [name for name in found["given"] if name not in options]
        if found["config"] is None and "train_loop_config" not in options:
            missing.append("train_loop_config")
        if missing:
            raise ValueError(f"{path}: no file describes {', '.join(missing)}: give restore the same again")
        parent, _, name = folder.rpartition("/")
        run_config = RunConfig(
            name=name,
            storage_path=parent or "/",
            storage_filesystem=files,
            checkpoint_config=CheckpointConfig(**found["checkpoint"]),
            failure_config=FailureConfig(max_failures=found["max_failures"]),
        )
        given = {
            "train_loop_config": found["config"],
            "scaling_config": ScalingConfig(**_workers(found["scaling"])),
            "run_config": run_config,
            **options,
        }
        return cls(train_loop_per_worker or _function(found, path), **given)

    def _description(self) -> dict[str, Any]:
        config, function = self.run_config, self.train_loop_per_worker
        assert config.checkpoint_config is not None  # Ray sets the defaults of both
        assert config.failure_config is not None
        return {
            "module": getattr(function, "__module__", None),
            "function": getattr(function, "__qualname__", None),
            "config": _json_or_none(self.train_loop_config or {}),
            "given": self._given,
            "scaling": {name: getattr(self.scaling_config, name) for name in _SCALING},
            "checkpoint": {name: getattr(config.checkpoint_config, name) for name in _CHECKPOINT},
            "max_failures": config.failure_config.max_failures,
        }


def _opened(path: str, given: fs.FileSystem | None) -> tuple[fs.FileSystem, str]:
    """The file system and the folder. A path without a scheme may be relative."""
    if given is None:
        given, path = fs.FileSystem.from_uri(path if "://" in path else os.path.abspath(path))
    return given, path.rstrip("/")


def _workers(scaling: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments of a ScalingConfig. JSON has no tuple, which a range of workers is."""
    workers = scaling["num_workers"]
    return {**scaling, "num_workers": tuple(workers) if isinstance(workers, list) else workers}


def _json_or_none(config: Mapping[str, Any]) -> Any:
    try:
        return json.loads(json.dumps(config))
    except (TypeError, ValueError):
        return None


def _function(found: Mapping[str, Any], path: str) -> Callable[..., Any]:
    """The function that the file names. Raises ValueError if no import finds it."""
    try:
        function: Any = importlib.import_module(found["module"])
        for name in found["function"].split("."):
            function = getattr(function, name)
    except (ImportError, AttributeError, TypeError) as error:
        name = f"{found['module']}.{found['function']}"
        raise ValueError(f"{path}: {name} cannot be imported: give train_loop_per_worker") from error
    checked: Callable[..., Any] = function
    return checked
