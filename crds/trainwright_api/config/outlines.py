"""The readable parts of the features of a model config, for checks between sections."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from trainwright_api.schema.section import Location, Section

NO_REDUCTION = (None, "none", "None")
"""The values of a reduction that keep a sequence."""

SEQUENCES = ("sequence", "text")


@dataclass(frozen=True)
class Outline:
    """The readable part of a feature. `reduces_input` is None if the feature leaves `reduce_input` out.

    `encoder`, `decoder`: their types; None if the feature has the default. `keeps_sequence`: its encoder returns a
    sequence.
    """

    where: Location
    name: str
    type: str | None
    column: str
    names_column: bool
    tied: Any
    dependencies: tuple[str, ...]
    reduces_input: bool | None
    keeps_sequence: bool
    encoder: str | None
    decoder: str | None

    @property
    def path(self) -> str:
        return f"{self.where[0]}[{self.where[1]}]"


def outlines(values: Mapping[str, Any], key: str) -> list[Outline]:
    """The features of a list, without those that have no readable name."""
    features = values.get(key)
    read = [
        _outline((key, at), mapping(item)) for at, item in enumerate(features if isinstance(features, list) else [])
    ]
    return [outline for outline in read if outline is not None]


def mapping(value: Any) -> Mapping[str, Any]:
    """The value's keys, or none where it is no section."""
    if isinstance(value, Section):
        return value.model_dump(exclude_unset=True)
    return value if isinstance(value, Mapping) else {}


def _outline(where: Location, feature: Mapping[str, Any]) -> Outline | None:
    name, column, kind = feature.get("name"), feature.get("column"), feature.get("type")
    if not isinstance(name, str):
        return None
    dependencies = feature.get("dependencies")
    return Outline(
        where=where,
        name=name,
        type=kind if isinstance(kind, str) else None,
        column=column if isinstance(column, str) else name,
        names_column=isinstance(column, str),
        tied=feature.get("tied"),
        dependencies=tuple(item for item in dependencies if isinstance(item, str))
        if isinstance(dependencies, list)
        else (),
        reduces_input=feature["reduce_input"] not in NO_REDUCTION if "reduce_input" in feature else None,
        keeps_sequence=kind in SEQUENCES and _keeps_sequence(feature.get("encoder")),
        encoder=_word(feature.get("encoder")),
        decoder=_word(feature.get("decoder")) or ("generator" if kind in SEQUENCES else None),
    )


def _keeps_sequence(encoder: Any) -> bool:
    """True if the encoder has no reduction. A sequence passes through as a sequence."""
    default = None if _word(encoder) == "passthrough" else "sum"
    return mapping(encoder).get("reduce_output", default) in NO_REDUCTION


def _word(section: Any) -> str | None:
    """The type of a section, which may be given as its type alone."""
    word = section if isinstance(section, str) else mapping(section).get("type")
    return word if isinstance(word, str) else None
