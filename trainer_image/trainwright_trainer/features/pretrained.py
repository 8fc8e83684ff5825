"""The tokenizer and the configuration of a pretrained model, by name or folder, from the Hugging Face hub or its cache.

Both become part of a feature's statistics, so that a saved model needs neither the hub nor the folder.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from typing import Any, TypeVar

from trainwright_api.problems import Mistakes

Loaded = TypeVar("Loaded")
NO_LIMIT = 1_000_000
"""A `model_max_length` beyond this is the library's word for none."""


@dataclass(frozen=True)
class PretrainedFiles:
    """`tokenizer`: the text of tokenizer.json. `config`: that of config.json. `limit`: the longest text in tokens."""

    tokenizer: str
    config: dict[str, Any]
    limit: int | None

    @property
    def digest(self) -> str:
        """Changes with each byte of both."""
        return hashlib.sha256(f"{self.tokenizer}{sorted(self.config.items())}{self.limit}".encode()).hexdigest()


def files_of(name: str, path: str) -> PretrainedFiles:
    """The files of a model. `path`: its path in the config. Raises `Mistakes` if there are none."""
    return _files_of(name, path, _identities(name))


def _identities(name: str) -> tuple[tuple[str, int, int], ...]:
    """The files of a folder, each with its time and size: a notebook may write another model there."""
    if not os.path.isdir(name):
        return ()
    with os.scandir(name) as files:
        return tuple(sorted((one.name, one.stat().st_mtime_ns, one.stat().st_size) for one in files))


@lru_cache(maxsize=16)
def _files_of(name: str, path: str, _: tuple[tuple[str, int, int], ...]) -> PretrainedFiles:
    library = transformers(path)
    tokenizer = loaded(name, path, lambda: library.AutoTokenizer.from_pretrained(name, trust_remote_code=False))
    config = loaded(name, path, lambda: library.AutoConfig.from_pretrained(name, trust_remote_code=False))
    if not hasattr(tokenizer, "backend_tokenizer"):
        raise Mistakes.one(path, f"{name!r} has no tokenizer.json, and none can be made of its files")
    limit = tokenizer.model_max_length
    plain = json.loads(config.to_json_string(use_diff=False))
    return PretrainedFiles(tokenizer.backend_tokenizer.to_str(), plain, limit if limit < NO_LIMIT else None)


def transformers(path: str) -> Any:
    """The library. Its import takes seconds, so only jobs that need it import it. Raises `Mistakes` without it."""
    try:
        library = import_module("transformers")
    except ImportError as error:
        raise Mistakes.one(path, "needs the library transformers: pip install 'trainwright[text]'") from error
    library.utils.logging.disable_progress_bar()
    return library


def loaded(name: str, path: str, load: Callable[[], Loaded]) -> Loaded:
    """The result of `load`. Raises `Mistakes`, in one line, if the model is not there or needs code of its own."""
    try:
        return load()
    except (OSError, ValueError) as error:
        if "trust_remote_code" in str(error):
            raise Mistakes.one(
                path, f"{name!r} needs code of its own (trust_remote_code), which is never run"
            ) from error
        raise Mistakes.one(path, f"there is no model {name!r} {_where(name)}") from error


def _where(name: str) -> str:
    if os.path.isdir(name):
        return "in this folder: it needs config.json, model.safetensors and the files of its tokenizer"
    home = os.environ.get("HF_HOME", "~/.cache/huggingface")
    if os.environ.get("HF_HUB_OFFLINE", "0") not in ("", "0"):
        return f"in {home} (HF_HOME), and HF_HUB_OFFLINE forbids to fetch it"
    return f"in {home} (HF_HOME), in a folder of this name, or on the hub"
