"""Checkpoints of Ray Train that hold a dictionary. Ray 2.7 had them as `Checkpoint.from_dict`, and has removed them."""

from __future__ import annotations

import shutil
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

import ray.train
import torch
from pyarrow import fs

FILE = "dictionary.pt"
_PLAIN = (str, bytes, bool, int, float, type(None), torch.Tensor, torch.Size, torch.dtype, torch.device)


class Checkpoint(ray.train.Checkpoint):
    """Ray's checkpoint, with `from_dict` and `to_dict`. Nothing in it is unpickled but plain values and tensors."""

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        """A checkpoint for `ray.train.report`. Of several workers, only that of rank 0 holds the dictionary, as in Ray.

        `data` holds tensors, numbers, texts, booleans, None, and lists, tuples and dictionaries of them, as the
        `state_dict` of a model and of an optimizer does. Raises TypeError for anything else.
        """
        _check(data, "data")
        folder = tempfile.mkdtemp(prefix="trainwright-checkpoint-")
        if _rank() == 0:
            torch.save(dict(data), Path(folder, FILE))
        made = cls(folder, fs.LocalFileSystem())
        weakref.finalize(made, shutil.rmtree, folder, ignore_errors=True)
        return made

    def to_dict(self) -> dict[str, Any]:
        """The dictionary, with all tensors on the CPU. Raises FileNotFoundError if `from_dict` did not make it."""
        with self.as_directory() as folder:
            found: dict[str, Any] = torch.load(Path(folder, FILE), map_location="cpu", weights_only=True)
        return found


def get_checkpoint() -> Checkpoint | None:
    """`ray.train.get_checkpoint` with `to_dict`: the checkpoint to go on from; None in a fresh run."""
    found = ray.train.get_checkpoint()
    return None if found is None else Checkpoint(found.path, found.filesystem)


def _rank() -> int:
    """The rank of this worker; 0 outside of Ray Train."""
    try:
        return int(ray.train.get_context().get_world_rank())
    except RuntimeError:
        return 0


def _check(value: Any, path: str) -> None:
    """Raise TypeError with the path of a value that `torch.load` would have to unpickle."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            _check(key, f"a key of {path}")
            _check(item, f"{path}[{key!r}]")
    elif isinstance(value, list | tuple | set):
        for position, item in enumerate(value):
            _check(item, f"{path}[{position}]")
    elif not isinstance(value, _PLAIN):
        raise TypeError(
            f"{path} is a {type(value).__name__}: a checkpoint's dictionary holds tensors and plain values; write "
            "anything else to files, with Checkpoint.from_directory"
        )
