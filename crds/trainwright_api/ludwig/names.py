"""The names of Ludwig's config schema, read from `names.txt`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib.resources import files

VERSIONS = {"": "0.11, 0.17", "+": "0.17", "-": "0.11"}


@dataclass(frozen=True)
class LudwigSection:
    """A section of Ludwig's schema: the noun of a choice and its word, or `section` and the name of a fixed section."""

    kind: str
    name: str
    versions: str
    fields: tuple[str, ...]
    """The fields of both versions. `type` is not listed."""


@cache
def ludwig_sections() -> tuple[LudwigSection, ...]:
    """Return all sections, in the order of the file."""
    text = files(__package__).joinpath("names.txt").read_text(encoding="utf-8")
    return tuple(_section(line) for line in text.splitlines() if line and not line.startswith("#"))


def _section(line: str) -> LudwigSection:
    kind, name, fields = (part.strip() for part in line.split(":"))
    bare = name.rstrip("+-")
    return LudwigSection(kind, bare, VERSIONS[name[len(bare) :]], tuple(field.rstrip("+-") for field in fields.split()))
