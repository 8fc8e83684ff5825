"""The test cases of `test_every_option_acts`: an option and the values to try for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
_IMAGE = ("stacked_cnn", "mlp_mixer")
"""The encoders of images whose fields are tested here. `test_images.py` tests the models of a library."""
# Sections that count as one option here: not built, used by the operator or another backend, or tested elsewhere.
_CLOSED = (
    *("podTemplate", "childMetadata", "credentials", "entrypoint", "config.hyperopt", "config.defaults"),
    *("backend.processor", "backend.trainer", "backend.credentials"),
)


@dataclass(frozen=True)
class OptionCase:
    """An option and its values, of which at least one has to make a difference. `name` is the test id."""

    name: str
    option: Option
    values: tuple[Any, ...]

    @property
    def path(self) -> str:
        return self.option.path


def is_built(path: str) -> bool:
    """True if the fields of the section at this path are tested."""
    key, word = parts_of(path)[-1]
    return path not in _CLOSED and (word is None or word in _words_of(path, key, word))


def _words_of(path: str, key: str, word: str) -> Sequence[str]:
    """The words whose sections are tested. Texts have the encoders of sequences;
    those with a pretrained model are tested in `test_pretrained_text.py`, the models of images in `test_images.py`."""
    if key != "encoder":
        return _WORDS.get(key, (word,))
    above, kind = parts_of(path)[-2]
    kind = kind or above
    if kind == "image":
        return _IMAGE
    return () if kind == "sequence" else support.ENCODERS["sequence" if kind == "text" else kind]


def cases_of(option: Option) -> Iterator[OptionCase]:
    """One case for each word of a field if its class is tested fully, else one case for the field."""
    path, now = option.path, _now(option)
    words = [word for word in other_words(option.schema, now) if not path.endswith("[image].encoder") or word in _IMAGE]
    for word in words if option.fully else ():
        name = f"{path}={word}"
        yield OptionCase(name, option, tuple(given_values(name, name) or [word]))
    given = given_values(path, path)
    values = given if given is not None else other_values(option.schema, now)
    rest = values if option.fully else [*values, *words]
    only_word = option.schema.choice is not None and not words
    if rest or not (words or only_word):
        yield OptionCase(path, option, tuple(rest))


def _now(option: Option) -> Any:
    """The value of the field in the base job. For a section with a type it is the type."""
    if option.path.endswith("].type"):
        return None
    try:
        found = taken(job_for(option.path, option.path), option.path)
    except (KeyError, StopIteration, TypeError):
        found = option.default
    if isinstance(found, dict):
        return found.get("type", found)
    return getattr(found, "type", found) if option.schema.choice is not None else found
