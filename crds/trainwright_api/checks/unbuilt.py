"""Finds the parts of a job that this version does not implement, with one line for each, in the data of the file.

It reads plain data and not the valid job, so that a mistake in one place hides nothing in another. Malformed and
unknown values are skipped, because the validation reports them. A field with its default value needs no support.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from pydantic.fields import FieldInfo

from trainwright_api.checks import support
from trainwright_api.config.merge import OF_INPUTS, OF_OUTPUTS
from trainwright_api.config.model import default_types
from trainwright_api.config.outlines import mapping, outlines
from trainwright_api.config.tokenizers import TOKENIZERS
from trainwright_api.locations import DATA_ONLY, GCS, S3, STORES, scheme_of
from trainwright_api.paths import Location
from trainwright_api.problems import not_built
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.stages import HYPEROPT
from trainwright_api.schema.choice import Choice
from trainwright_api.schema.field_schema import FieldSchema, schema_of
from trainwright_api.schema.section import KubernetesSection, Section

Gap = tuple[Location, str]
"""The location of an unbuilt value, below the spec, and the line about it."""

_STORES = ("dataset", "output", "model")


def gaps(spec: Mapping[str, Any]) -> Iterator[Gap]:
    """Yield the unbuilt values in the plain data of a spec, in the order of the data."""
    config = spec.get("config")
    if isinstance(config, Mapping):
        spec = {**spec, "config": _effective(config)}
        if spec.get("task") != HYPEROPT:  # the other tasks ignore the section
            spec["config"] = {key: value for key, value in spec["config"].items() if key != "hyperopt"}
    walk = _Walk(default_types(mapping(config)))
    yield from walk.section(TrainingJobSpec, spec, ())
    yield from _places(spec)


def _line(found: str, built: Iterable[str], reason: str = "") -> str:
    words = ", ".join(built)
    parts = [reason, f"this version has {words}" if words else ""]
    return not_built(found, "; ".join(part for part in parts if part))


class _Walk:
    """Walks through plain data by the contract's schemas. `types` gives the default of `type` by a choice's noun."""

    def __init__(self, types: Mapping[str, str]) -> None:
        self._types = types

    def section(self, section: type[Section], values: Mapping[str, Any], at: Location) -> Iterator[Gap]:
        for key, value in _within_reach(section, values).items():
            name = _names(section).get(key)
            if name is None or (value is None and issubclass(section, KubernetesSection)):
                continue
            info, schema = _field(section, name)
            if not support.is_built(section, name):
                instead = support.instead_of(section, name)
                for where, asked in _asked(info, schema, value, (*at, key)):
                    yield where, not_built(_scalar(asked), instead)
                continue
            yield from self._field(section, name, value, (*at, key), schema)

    def _field(self, section: type[Section], name: str, value: Any, at: Location, schema: FieldSchema) -> Iterator[Gap]:
        built = support.words_of(section, name)
        if built is None or not isinstance(value, str):
            yield from self._value(schema, value, at)
        elif value in (known := _words(schema) or TOKENIZERS) and value not in built:
            yield at, _line(value, [word for word in known if word in built] or ["numbers"])

    def _value(self, schema: FieldSchema, value: Any, at: Location) -> Iterator[Gap]:
        if schema.choice is not None:
            yield from self._chosen(schema.choice, value, at)
        elif schema.kind == "section" and isinstance(value, Mapping):
            yield from self.section(schema.section, value, at)
        elif schema.kind == "list" and schema.item is not None and isinstance(value, list):
            for position, item in enumerate(value):
                yield from self._value(schema.item, item, (*at, position))
        for branch in schema.branches:
            yield from self._value(branch, value, at)

    def _chosen(self, choice: Choice, value: Any, at: Location) -> Iterator[Gap]:
        given = value.get(choice.key) if isinstance(value, Mapping) else value
        word = self._types.get(choice.noun, choice.default) if given is None else given
        if not isinstance(word, str) or word not in choice.words:
            return
        built = support.built_words(choice)
        if word not in built:
            if given is not None:
                where = (*at, choice.key) if isinstance(value, Mapping) else at
                yield where, _line(word, built, support.REASONS.get(f"{choice.noun}.{word}", ""))
        elif isinstance(value, Mapping):
            yield from self.section(choice.section(word), value, at)


def _effective(config: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the config without the `defaults` that no feature takes. Ludwig writes those of all types into a file."""
    inputs = {feature.type for feature in outlines(config, "input_features")}
    outputs = {feature.type for feature in outlines(config, "output_features")}
    defaults = config.get("defaults")
    if not isinstance(defaults, Mapping) or not inputs | outputs:
        return config
    taken = {
        kind: {
            key: value
            for key, value in mapping(section).items()
            if (kind in inputs and key in OF_INPUTS) or (kind in outputs and key in OF_OUTPUTS)
        }
        for kind, section in defaults.items()
        if kind in inputs | outputs
    }
    return {**config, "defaults": taken}


def _places(spec: Mapping[str, Any]) -> Iterator[Gap]:
    backend = spec.get("backend")
    cache_dir = backend.get("cache_dir") if isinstance(backend, Mapping) else None
    places: list[tuple[Location, Any]] = [((name,), spec.get(name)) for name in _STORES]
    for at, place in [*places, (("backend", "cache_dir"), cache_dir)]:
        scheme = scheme_of(place) if isinstance(place, str) else ""
        readable = DATA_ONLY if at == ("dataset",) else ()
        if scheme not in ("", "file://", *STORES, *readable):
            yield at, _line(scheme, ("files", f"folders, {S3} and {GCS}"))


def _asked(info: FieldInfo, schema: FieldSchema, value: Any, at: Location) -> Iterator[tuple[Location, Any]]:
    """Yield the value if it differs from the field's default. The fields of a section are compared one by one."""
    default = None if info.is_required() else info.get_default(call_default_factory=True)
    if isinstance(default, Section) and schema.kind == "section" and isinstance(value, Mapping):
        names = _names(schema.section)
        for key, item in value.items():
            if key in names:
                yield from _asked(*_field(schema.section, names[key]), item, (*at, key))
    elif value != default:
        yield at, value


def _scalar(value: Any) -> str:
    """Return a number or boolean for the line. Texts are omitted: they can be secret or long."""
    if isinstance(value, bool):
        return str(value).lower()
    return f"{value}" if isinstance(value, int | float) else ""


def _within_reach(section: type[Section], values: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the values to check. If the type of a section is not built, its other fields are not checked."""
    built = support.words_of(section, "type")
    word = values.get("type")
    return values if built is None or word is None or word in built else {"type": word}


def _words(schema: FieldSchema) -> tuple[Any, ...]:
    return (*schema.words, *(word for branch in schema.branches for word in branch.words))


@cache
def _names(section: type[Section]) -> Mapping[str, str]:
    """Return the field names by the keys of a file."""
    return {info.alias or name: name for name, info in section.model_fields.items()}


@cache
def _field(section: type[Section], name: str) -> tuple[FieldInfo, FieldSchema]:
    info = section.model_fields[name]
    return info, schema_of(info)
