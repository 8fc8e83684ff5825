"""The schema of a field's values, read from its annotation. The CRD and the reference are generated from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import or_
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic.fields import FieldInfo

from trainwright_api.schema.choice import Choice, Later
from trainwright_api.schema.constraints import KeyedBy, Keys
from trainwright_api.schema.section import Section
from trainwright_api.schema.unions import ByKind

Kind = Literal["any", "flag", "integer", "number", "text", "words", "list", "map", "section", "choice", "union"]

_SCALARS: dict[Any, Kind] = {bool: "flag", int: "integer", float: "number", str: "text", Any: "any"}
_LIMITS = ("ge", "gt", "le", "lt", "min_length", "max_length", "pattern")


@dataclass(frozen=True)
class FieldSchema:
    """The schema of a field's value. `limits` has pydantic's names: ge, gt, le, lt, min_length, max_length, pattern."""

    kind: Kind
    nullable: bool = False
    words: tuple[Any, ...] = ()
    item: FieldSchema | None = None
    load: Callable[[], type[Section]] | None = None
    choice: Choice | None = None
    branches: tuple[FieldSchema, ...] = ()
    expected: str = ""
    limits: dict[str, Any] = field(default_factory=dict)
    keyed_by: str = ""
    keys: Keys | None = None

    @property
    def section(self) -> type[Section]:
        """The class of a section. Some classes are imported only here."""
        assert self.load is not None
        return self.load()


def schema_of(info: FieldInfo) -> FieldSchema:
    """Return the schema of a model's field."""
    return _schema(info.annotation, list(_flat(info.metadata)))


def description_of(info: FieldInfo) -> str:
    """Return the description of a field, or else that of its annotation."""
    if info.description:
        return info.description
    marks = [mark for part in get_args(info.annotation) if get_origin(part) is Annotated for mark in get_args(part)[1:]]
    return next((mark.description for mark in marks if isinstance(mark, FieldInfo) and mark.description), "")


def sections_in(schema: FieldSchema) -> Iterator[type[Section]]:
    """Yield the sections that a value of this schema can be or contain."""
    return (part.section for part in schemas_in(schema) if part.kind == "section")


def schemas_in(schema: FieldSchema) -> Iterator[FieldSchema]:
    """Yield the schema, and those of its branches and items."""
    yield schema
    for part in (*schema.branches, *([schema.item] if schema.item else [])):
        yield from schemas_in(part)


def _schema(annotation: Any, metadata: list[Any]) -> FieldSchema:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _schema(arguments[0], [*_flat(arguments[1:]), *metadata])
    if origin in (Union, UnionType) and NoneType in arguments:
        rest = [argument for argument in arguments if argument is not NoneType]
        return replace(_schema(rest[0] if len(rest) == 1 else reduce(or_, rest), metadata), nullable=True)
    marked = _marked(metadata)
    if marked:
        return marked
    keyed_by = next((mark.key for mark in metadata if isinstance(mark, KeyedBy)), "")
    keys = next((mark for mark in metadata if isinstance(mark, Keys)), None)
    plain = _plain(annotation, origin, arguments)
    return replace(plain, limits=_limits(metadata), keyed_by=keyed_by, keys=keys)


def _marked(metadata: list[Any]) -> FieldSchema | None:
    """Return the schema of a marker in the metadata, or None if there is no marker."""
    for mark in metadata:
        if isinstance(mark, ByKind):
            branches = tuple(_schema(branch, []) for branch in mark.branches)
            return FieldSchema("union", branches=branches, expected=mark.expected)
        if isinstance(mark, Later):
            return FieldSchema("section", load=partial(getattr, mark, "section"))
        choice = mark if isinstance(mark, Choice) else getattr(mark, "choice", None)
        if isinstance(choice, Choice):
            return FieldSchema("choice", choice=choice)
        if isinstance(getattr(mark, "items", None), Choice):
            return FieldSchema(
                "union",
                branches=(FieldSchema("flag"), FieldSchema("list", item=FieldSchema("choice", choice=mark.items))),
            )
    return None


def _plain(annotation: Any, origin: Any, arguments: tuple[Any, ...]) -> FieldSchema:
    if annotation in _SCALARS:
        return FieldSchema(_SCALARS[annotation])
    if origin is Literal:
        return FieldSchema("words", words=arguments)
    if origin in (list, tuple):
        return FieldSchema("list", item=_schema(arguments[0], []))
    if origin is dict:
        return FieldSchema("map", item=_schema(arguments[1], []))
    if isinstance(annotation, type) and issubclass(annotation, Section):
        return FieldSchema("section", load=lambda: annotation)
    raise TypeError(f"no schema is known for {annotation!r}")


def _flat(metadata: Iterable[Any]) -> Iterator[Any]:
    for mark in metadata:
        if isinstance(mark, FieldInfo):
            yield from _flat(mark.metadata)
        else:
            yield mark


def _limits(metadata: list[Any]) -> dict[str, Any]:
    return {name: value for mark in metadata for name in _LIMITS if (value := getattr(mark, name, None)) is not None}
