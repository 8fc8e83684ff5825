"""Finds what an unknown key stands for: the sections in which it belongs, or the nearest name of its own section."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.checks import support
from trainwright_api.config.data import PreprocessingConfig
from trainwright_api.config.model import ModelConfig
from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.problems import nearest
from trainwright_api.resource.backend import Backend, BackendTrainer, Loader, Processor
from trainwright_api.resource.job import TrainingJob, TrainingJobSpec
from trainwright_api.schema.section import Section

OUTSIDE_CONFIG: Mapping[str, str] = {
    "backend": "backend",
    "random_seed": "seed",
    "dataset": "dataset",
    "datasetOptions": "datasetOptions",
}
"""The keys of a Ludwig file that are not part of the config, and their names in the spec."""

_SECTIONS: Mapping[str, type[Section]] = {
    "": TrainingJobSpec,
    "config": ModelConfig,
    "config.trainer": TrainerConfig,
    "config.preprocessing": PreprocessingConfig,
    "backend": Backend,
    "backend.processor": Processor,
    "backend.trainer": BackendTrainer,
    "backend.loader": Loader,
}
"""The sections between which keys are confused, by their paths below the spec."""
_PATHS: Mapping[type[Section], str] = {TrainingJob: "", **{section: path for path, section in _SECTIONS.items()}}
_OTHER_NAMES: Mapping[type[Section], Mapping[str, str]] = {
    TrainingJobSpec: OUTSIDE_CONFIG,
    ModelConfig: {new: old for old, new in OUTSIDE_CONFIG.items()},
}


def known_keys(section: type[Section]) -> list[str]:
    """Return the built keys of a section, as a file has them. A config may also have what a Ludwig file has."""
    return [*support.built_keys(section), *(OUTSIDE_CONFIG if section is ModelConfig else ())]


def near_key(key: str, section: type[Section]) -> str | None:
    """Return the key of a section that an unknown one probably stands for. None: there is none, or it is not built."""
    known = known_keys(section)
    near = _OTHER_NAMES.get(section, {}).get(key) or nearest(key, dict.fromkeys([*known, *section.known_keys()]))
    return near if near in known else None


def homes(key: str, value: Any, section: type[Section]) -> list[str]:
    """Return the paths, below the spec, of the sections that have a key which this section does not have.

    If some of them can hold the value, only those are returned. `type` has another meaning in each section.
    """
    if section not in _PATHS or key == "type" or key in _OTHER_NAMES.get(section, {}):
        return []
    found = [path for path, other in _SECTIONS.items() if key in support.built_keys(other)]
    return [path for path in found if _may_hold(f"{path}.{key}", value)] or found


def advice(key: str, value: Any, section: type[Section]) -> str:
    """Return where an unknown key belongs, or the question for the nearest name. It is empty if there is neither."""
    if found := homes(key, value, section):
        own = _PATHS[section].partition(".")[0]
        spec = f"the spec, beside {own}" if own else "spec"
        return f"it belongs in {' or '.join(path or spec for path in found)}"
    near = near_key(key, section)
    return f"did you mean {near!r}?" if near else ""


def _may_hold(path: str, value: Any) -> bool:
    """Return True unless the value is a section, and the one at this path has none of its keys."""
    section = _SECTIONS.get(path.removeprefix("."))
    return section is None or not isinstance(value, Mapping) or any(key in section.known_keys() for key in value)
