"""The cases of the law: an option, and the values that are tried in it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from trainwright_api.checks import support

from .option_jobs import given_values, job_for
from .option_paths import parts_of, taken
from .option_values import other_values, other_words
from .option_walk import Option

_WORDS = {
    "input_features": support.INPUTS,
    "output_features": support.OUTPUTS,
    "decoder": support.DECODERS,
    "loss": support.LOSSES,
    "combiner": support.COMBINERS,
    "optimizer": support.OPTIMIZERS,
    "split": support.SPLITS,
}
# Sections that are one option here: not built, of the operator, of another backend, or tried in a way of their own.
_CLOSED = (
    *("podTemplate", "credentials", "entrypoint", "config.hyperopt", "config.defaults"),
    *("backend.processor", "backend.trainer", "backend.credentials"),
)


@dataclass(frozen=True)
class Case:
    """An option, and values of which one at least is to make a difference. `name` is its id."""

    name: str
    option: Option
    values: tuple[Any, ...]

    @property
    def path(self) -> str:
        return self.option.path


def is_built(path: str) -> bool:
    """Whether there is something to look for in the section at this path."""
    key, word = parts_of(path)[-1]
    return path not in _CLOSED and (word is None or key not in _WORDS or word in _WORDS[key])


def cases_of(option: Option) -> Iterator[Case]:
    """One case for each word of a field, where its class is tried fully; else one for the field."""
    path, now = option.path, _now(option)
    words = other_words(option.shape, now)
    for word in words if option.fully else ():
        name = f"{path}={word}"
        yield Case(name, option, tuple(given_values(name, name) or [word]))
    given = given_values(path, path)
    values = given if given is not None else other_values(option.shape, now)
    rest = values if option.fully else [*values, *words]
    only_word = option.shape.choice is not None and len(option.shape.choice.words) == 1
    if rest or not (words or only_word):
        yield Case(path, option, tuple(rest))


def _now(option: Option) -> Any:
    """What the field is in the base job: a word for a section that has a type."""
    if option.path.endswith("].type"):
        return None
    try:
        found = taken(job_for(option.path, option.path), option.path)
    except (KeyError, StopIteration, TypeError):
        found = option.default
    if isinstance(found, dict):
        return found.get("type", found)
    return getattr(found, "type", found) if option.shape.choice is not None else found
