"""The base classes of all sections of the contract: strict, frozen, with their own error messages.

Strict means that no value changes its type: "3" is not a number, true is not 1, NaN and infinity are refused; only an
integer is accepted as a float. pydantic reports an unknown key without the known ones, and does not check relations
between fields if one field is wrong; this module adds both. The contract itself raises these errors:

    unknown_key    ctx: found, expected (all known keys), section (the class)
    unknown_word   ctx: found, expected (all known words), noun, section (the class that has the field)
    literal_error  ctx: expected (pydantic's list), section (the class that has the field)
    section_type   ctx: found, section (the class, or one of several), key (of the word that selects the class, if any)
    relation       two fields that do not fit together; the message is the whole sentence

Their messages can be shown unchanged. The location is the key that the user has to correct.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache
from typing import Any, Self, get_args

from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

from trainwright_api.problems import question

Location = tuple[str | int, ...]

MOST_UNKNOWN = 100
"""The maximum of unknown keys of one section that are listed."""
_OF_WORDS = ("literal_error", "unknown_word")
_PYDANTICS_OWN = frozenset(get_args(core_schema.ErrorType))

_CHECKS_RELATIONS: ContextVar[bool] = ContextVar("checks relations", default=True)


@contextmanager
def without_relations() -> Iterator[None]:
    """Check no relations between fields, for values that were valid when an earlier version stored them."""
    token = _CHECKS_RELATIONS.set(False)
    try:
        yield
    finally:
        _CHECKS_RELATIONS.reset(token)


class Section(BaseModel):
    """A mapping of the file with fixed keys."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        frozen=True,
        allow_inf_nan=False,
        # A file uses few of the contract's sections. Building the others would take most of `validate`'s time.
        defer_build=True,
    )

    def mistakes(self) -> Iterator[InitErrorDetails]:
        """Yield the violated relations between fields that are valid on their own. See `relation`."""
        return iter(())

    @classmethod
    def mistakes_in(cls, values: Mapping[str, Any]) -> Iterator[InitErrorDetails]:  # noqa: ARG003
        """Yield the violated relations between the values of the file, which can be invalid on their own."""
        return iter(())

    @model_validator(mode="wrap")
    @classmethod
    def _explain(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(value, cls):
            return value
        if not isinstance(value, Mapping):
            context = {"found": shown(value), "section": cls}
            raise PydanticCustomError("section_type", "expected keys and values, found {found}", context)
        known = {key: item for key, item in value.items() if cls._knows(key)}
        lines = list(_unknown_keys([key for key in value if key not in known], cls, value))
        checks_relations = _CHECKS_RELATIONS.get()
        if checks_relations:
            lines.extend(cls.mistakes_in(known))
        try:
            section = handler(known)
        except ValidationError as error:
            raise failure([*(_detail(line, cls) for line in error.errors(include_url=False)), *lines]) from None
        if checks_relations:
            lines.extend(section.mistakes())
        if lines:
            raise failure(lines)
        return section

    @classmethod
    def known_keys(cls) -> tuple[str, ...]:
        """Return the keys of this section, as they are written in a file."""
        return _keys_in_a_file(cls)

    @classmethod
    def _knows(cls, key: Any) -> bool:
        return key in _names(cls)


class KubernetesSection(Section):
    """A section that follows the Kubernetes API conventions: camelCase in the file, snake_case in Python."""

    model_config = ConfigDict(
        alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, serialize_by_alias=True
    )

    @model_validator(mode="before")
    @classmethod
    def _null_is_absence(cls, values: Any) -> Any:
        """Drop keys with null, as the API server does before it stores an object. Then a required key is missing."""
        if not isinstance(values, dict):
            return values
        known = _keys_in_a_file(cls)
        return {key: value for key, value in values.items() if value is not None or key not in known}

    @classmethod
    def _knows(cls, key: Any) -> bool:
        return key in _names(cls) or key in _keys_in_a_file(cls)


# pydantic builds `model_fields` again on every access, and the operator reads a status at every step of a job.
@cache
def _names(section: type[Section]) -> frozenset[str]:
    return frozenset(section.model_fields)


@cache
def _keys_in_a_file(section: type[Section]) -> tuple[str, ...]:
    return tuple(field.alias or name for name, field in section.model_fields.items())


def relation(message: str, *location: str | int, found: Any = None) -> InitErrorDetails:
    """Return a mistake between fields: one sentence, at the key (below the section) that the user has to correct."""
    return {"type": PydanticCustomError("relation", _literal(message)), "loc": location, "input": found}


def unknown_word(noun: str, found: str, expected: Iterable[str]) -> PydanticCustomError:
    """Return the error for an unknown word. Its message has the nearest expected word, or all of them."""
    words = list(expected)
    found = found.encode("utf-8", "backslashreplace").decode()  # what a command line gives need not be text
    hint = question(found, words) or f"expected one of {', '.join(words)}"
    message = f"{found!r} is no {noun}: {hint}"
    return PydanticCustomError("unknown_word", _literal(message), {"found": found, "expected": words, "noun": noun})


def failure(lines: Iterable[InitErrorDetails]) -> ValidationError:
    """Return the lines as one error. If a validator raises it, pydantic puts the validator's location before theirs."""
    return ValidationError.from_exception_data("section", list(lines))


def details_of(error: ValidationError) -> list[InitErrorDetails]:
    """Return the lines of an error in a form that can be raised again."""
    return [_detail(line) for line in error.errors(include_url=False)]


def shown(value: Any) -> str:
    """Return the value in YAML's terms, for messages."""
    if value is None:
        return "nothing (null)"
    if isinstance(value, bool):
        return f"{str(value).lower()} (yes or no)"
    if isinstance(value, list | tuple):
        return "a list"
    if isinstance(value, Mapping):
        return "keys and values"
    return f"the text {value!r}" if isinstance(value, str) else f"the number {value!r}"


def _unknown_keys(keys: list[Any], section: type[Section], value: Mapping[str, Any]) -> Iterator[InitErrorDetails]:
    """Yield an error for each unknown key, at most MOST_UNKNOWN: the nearest names of thousands take minutes."""
    for key in keys[:MOST_UNKNOWN]:
        yield _unknown_key(key, section, value[key])
    if len(keys) > MOST_UNKNOWN:
        yield relation(f"{len(keys):,} unknown keys, of which the first {MOST_UNKNOWN} are listed")


def _unknown_key(key: Any, section: type[Section], value: Any) -> InitErrorDetails:
    known = section.known_keys()
    hint = question(str(key), known) or f"known here: {', '.join(known)}"
    context = {"found": str(key), "expected": list(known), "section": section}
    error = PydanticCustomError("unknown_key", _literal(f"unknown key: {hint}"), context)
    return {"type": error, "loc": (str(key),), "input": value}


def _detail(line: Any, section: type[Section] | None = None) -> InitErrorDetails:
    """Return a line in a form that can be raised again. A wrong word gets the section that has its field."""
    kind: Any = line["type"]
    context = line.get("ctx", {})
    if kind in _OF_WORDS and section is not None and len(line["loc"]) == 1:
        context = {"section": section, **context}
    if kind not in _PYDANTICS_OWN or "section" in context:
        kind = PydanticCustomError(kind, _literal(line["msg"]), context)
    return {"type": kind, "loc": line["loc"], "input": line["input"], "ctx": context}


def _literal(message: str) -> Any:
    """Cast for mypy: pydantic's templates have to be literal strings; ours are complete sentences."""
    return message
