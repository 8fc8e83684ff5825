"""Facts about the models of the library timm. Its import takes seconds, so only jobs that need it import it."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from typing import Any

from trainwright_api.problems import Mistakes


@dataclass(frozen=True)
class TimmModel:
    """`size`: the height and the width of the images of the weights. `is_fixed`: the model is built for one size.
    `mean`, `std`: of each channel of the pixels, from 0 to 1. `location`: the weights on the hub; "" if there are none.
    """

    size: tuple[int, int]
    is_fixed: bool
    mean: tuple[float, ...]
    std: tuple[float, ...]
    location: str


def timm(path: str) -> Any:
    """The library. Raises `Mistakes` without it."""
    try:
        return import_module("timm")
    except ImportError as error:
        raise Mistakes.one(path, "needs the library timm: pip install 'trainwright[image]'") from error


@cache
def timm_model(name: str, path: str) -> TimmModel:
    """A model by its name, perhaps with the tag of its weights. `path`: that of the encoder.

    Raises `Mistakes` for an unknown name.
    """
    library = timm(path)
    architecture, _, tag = name.partition(".")
    if not library.is_model(architecture):
        raise Mistakes.one(
            f"{path}.model_name", f"{name!r}: timm has no such model{_near(name, library.list_models())}"
        )
    tagged = library.list_pretrained(f"{architecture}.*")
    if tag and name not in tagged:
        shown = ", ".join(one.partition(".")[2] for one in tagged) or "none"
        raise Mistakes.one(f"{path}.model_name", f"{name!r}: the weights of {architecture} have the tags {shown}")
    found = library.get_pretrained_cfg(name)
    height, width = found.input_size[1:]
    return TimmModel((height, width), found.fixed_input_size, found.mean, found.std, found.hf_hub_id or "")


def _near(name: str, names: list[str]) -> str:
    near = get_close_matches(name, names, 1)
    return f"; the nearest is {near[0]!r}" if near else ""
