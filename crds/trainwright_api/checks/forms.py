"""Converts every form of a file, and Ludwig's old spellings, into a full resource, with a notice for each change.

A file is a full resource, its spec alone (`dataset`, `config`, `backend`, …), or a bare Ludwig config.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from trainwright_api.checks.places import OUTSIDE_CONFIG
from trainwright_api.checks.score_attribute import UnknownScoreError, canonical_score
from trainwright_api.config import ModelConfig
from trainwright_api.config.outlines import mapping, outlines
from trainwright_api.paths import Location
from trainwright_api.problems import Problem
from trainwright_api.resource.job import API_VERSION, KIND, TrainingJob, TrainingJobSpec
from trainwright_api.upgrade import OLD_SECTIONS, upgrade
from trainwright_api.upgrade.draft import Draft, origin_of


@dataclass
class Form:
    """A resource as plain data, and the changes that produced it from the file."""

    data: dict[str, Any]
    notices: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    moved: dict[Location, Location] = field(default_factory=dict)
    """Locations in `data`, and the locations of the same values in the file."""
    kind: str = "spec"
    """The form of the file: `resource`, `spec` or `ludwig`."""
    upgraded: bool = False
    """True if old forms of Ludwig were replaced, or unknown keys removed."""
    left_out: list[Problem] = field(default_factory=list)
    """The keys and words that Ludwig has and the contract does not."""

    @property
    def whole(self) -> bool:
        """True if the file is the full resource."""
        return self.kind == "resource"

    def origin(self, location: Location) -> Location:
        """Return the location in the file of a location in `data`."""
        return origin_of(location, self.moved)

    def remove(self, location: Location) -> bool:
        """Remove a key from the data. Return False if the data do not have it."""
        section: Any = self.data
        try:
            for key in location[:-1]:
                section = section[key]
            del section[location[-1]]
        except (KeyError, IndexError):
            return False
        self.upgraded = True
        return True

    def of_file(self) -> tuple[dict[str, Any], Callable[[Location], Location]]:
        """Return the data in the form of the file, and a function from its locations to those of the file."""
        above: Location = {"resource": (), "spec": ("spec",), "ludwig": ("spec", "config")}[self.kind]

        def place_in_file(at: Location) -> Location:
            outside = {old: new for old, new in OUTSIDE_CONFIG.items() if self.kind == "ludwig"}
            inside = ("spec", outside[str(at[0])], *at[1:]) if at and at[0] in outside else (*above, *at)
            found = self.origin(inside)
            kept = next((depth for depth in range(len(above), 0, -1) if found[:depth] == above[:depth]), 0)
            return found[kept:]

        spec = self.data["spec"]
        if self.kind != "ludwig":
            return self.data if self.kind == "resource" else spec, place_in_file
        beside = {old: spec[new] for old, new in OUTSIDE_CONFIG.items() if new in spec}
        return {**spec["config"], **beside}, place_in_file


def resource(data: Mapping[str, Any], source: str) -> Form:
    """Convert `data`, in any of the forms, into the full resource. `data` is not changed."""
    form = _FORMS[_kind_of(data)](dict(data), name_of(source))
    spec = form.data.get("spec")
    if isinstance(spec, dict):
        form.data["spec"] = spec = dict(spec)
        _lift(form, spec)
        _read_task(form, spec)
        _upgrade(form)
        _read_score(form, form.data["spec"])
    return form


def _upgrade(form: Form) -> None:
    """Replace the old forms of Ludwig by their successors."""
    draft = Draft(form.data, form.moved)
    upgrade(draft)
    form.data, form.moved = draft.data, draft.moved
    form.problems += draft.problems
    changes = list(draft.notices())
    form.notices += changes
    form.upgraded = bool(changes)


def _kind_of(data: Mapping[str, Any]) -> str:
    """Return the form that has most of the keys, so that one wrong key does not change the result."""
    known = {"spec": set(TrainingJobSpec.known_keys()), "resource": set(TrainingJob.known_keys())}
    if not isinstance(data.get("config"), Mapping):  # else sections of the config beside it are misplaced
        known["ludwig"] = set(ModelConfig.known_keys()) | set(OUTSIDE_CONFIG) | OLD_SECTIONS
    return max(known, key=lambda form: sum(key in known[form] for key in data))


def _from_resource(data: dict[str, Any], _: str) -> Form:
    # The operator writes the status; the user cannot correct it.
    return Form({key: value for key, value in data.items() if key != "status"}, kind="resource")


def _from_spec(data: dict[str, Any], name: str) -> Form:
    return Form({"apiVersion": API_VERSION, "kind": KIND, "metadata": {"name": name}, "spec": data})


def _from_ludwig(data: dict[str, Any], name: str) -> Form:
    config = {key: value for key, value in data.items() if key not in OUTSIDE_CONFIG}
    beside = {new: data[old] for old, new in OUTSIDE_CONFIG.items() if old in data}
    form = _from_spec({"config": config, **beside}, name)
    form.kind = "ludwig"
    form.moved["spec", "seed"] = ("random_seed",)
    return form


_FORMS: Mapping[str, Callable[[dict[str, Any], str], Form]] = {
    "resource": _from_resource,
    "spec": _from_spec,
    "ludwig": _from_ludwig,
}


def name_of(source: str) -> str:
    """Return the name of a job without a name, from the name of its file."""
    word = re.sub(r"[^a-z0-9]+", "-", PurePath(source).stem.lower()).strip("-")
    return word[:63].rstrip("-") or "job"


def _lift(form: Form, spec: dict[str, Any]) -> None:
    """Move keys that belong beside the config out of a pasted Ludwig config."""
    config = spec.get("config")
    if not isinstance(config, dict):
        return
    spec["config"] = config = dict(config)
    for old, new in OUTSIDE_CONFIG.items():
        if old not in config:
            continue
        if new in spec:
            form.problems.append(Problem(f"config.{old}", f"{new} is given beside config already: keep one of them"))
            del config[old]
        else:
            spec[new] = config.pop(old)
            form.moved["spec", new] = ("spec", "config", old)


def _read_task(form: Form, spec: dict[str, Any]) -> None:
    if spec.get("task") == "test":
        spec["task"] = "evaluate"
        form.notices.append("task: test is read as evaluate")


def _read_score(form: Form, spec: dict[str, Any]) -> None:
    """Convert other programs' spellings of `checkpoint.scoreAttribute`. `validate` reports unknown ones."""
    policy = mapping(spec.get("checkpoint"))
    given = policy.get("scoreAttribute")
    outputs = outlines(mapping(spec.get("config")), "output_features")
    if not isinstance(given, str) or spec.get("entrypoint") is not None:
        return
    with suppress(UnknownScoreError):
        name = canonical_score(given, {output.name: output.type or "" for output in outputs})
        if name != given:
            spec["checkpoint"] = {**policy, "scoreAttribute": name}
            form.notices.append(f"checkpoint.scoreAttribute: {given} is read as {name}")
