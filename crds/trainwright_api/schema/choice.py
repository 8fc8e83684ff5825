"""Sections whose `type` selects the class: an encoder, a loss, an optimizer, a feature.

pydantic's discriminated unions build every branch before they read the first value, put the branch's tag into the path
of a mistake, and cannot leave an absent `type` absent. A `Choice` looks the class up in a table, imports and builds it
at its first use in a file, and reads a bare word as `{type: word}`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from importlib import import_module
from types import MappingProxyType
from typing import Any

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler, ValidationError
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from trainwright_api.problems import nearest
from trainwright_api.schema.section import Section, details_of, failure, relation, shown, unknown_word

Table = Mapping[str, str]
"""The classes by word, written as `module.Class` below the table's package."""


_NO_WORDS: Mapping[str, str] = MappingProxyType({})


class Chosen(Section):
    """A section. `type` selects its class."""

    type: str = Field(description="The type.")


_DEFAULT_WORDS: ContextVar[Mapping[str, str]] = ContextVar("default words", default=_NO_WORDS)


@contextmanager
def default_words(words: Mapping[str, str]) -> Iterator[None]:
    """Set the words that replace an absent `type`, by noun, while a file with a `defaults` section is read."""
    token = _DEFAULT_WORDS.set(words)
    try:
        yield
    finally:
        _DEFAULT_WORDS.reset(token)


class Choice:
    """A marker in `Annotated[...]` for a section whose `type` selects the class.

    Messages call a word of the table by `noun`. An absent `type` is `default`. Without a default, `type` is required,
    and a bare word cannot replace the section. `key` is the field that selects the class.
    """

    def __init__(self, noun: str, package: str, table: Table, default: str | None = None, key: str = "type") -> None:
        self.noun = noun
        self.default = default
        self.key = key
        self._package = package
        self._table = table

    @property
    def words(self) -> tuple[str, ...]:
        """Return the valid words of `type`, in the order of the reference."""
        return tuple(self._table)

    def section(self, word: str) -> type[Section]:
        """Return the class of a word."""
        module, _, name = self._table[word].rpartition(".")
        found: type[Section] = getattr(import_module(f"{self._package}.{module}"), name)
        return found

    def make(self) -> Any:
        """Return the default section without any values, for `default_factory`."""
        assert self.default is not None
        return self.section(self.default).model_validate({})

    def read(self, value: Any) -> Section:
        """Return the section of a value in the file. Raises pydantic's ValidationError."""
        if isinstance(value, Section):
            return value
        if isinstance(value, str) and self.default is not None:
            value = {self.key: self._known(value)}
        if not isinstance(value, Mapping):
            context: dict[str, Any] = {"found": shown(value)}
            if self.default is None:
                context |= {"section": self.section(self.words[0]), "key": self.key}
            raise PydanticCustomError("section_type", f"expected {self._expected}, found {{found}}", context)
        return self.section(self._word_of(value)).model_validate(value)

    @property
    def _expected(self) -> Any:
        article = "an" if self.noun[0] in "aeiou" else "a"
        return "keys and values" if self.default is None else f"the name of {article} {self.noun}, or keys and values"

    def _word_of(self, value: Mapping[str, Any]) -> str:
        if self.key not in value:
            if self.default is None:
                raise self._without_word(value)
            word = _DEFAULT_WORDS.get().get(self.noun, self.default)
            return word if word in self._table else self.default
        word = value[self.key]
        if not isinstance(word, str):
            raise failure([{"type": "string_type", "loc": (self.key,), "input": word}])
        try:
            return self._known(word)
        except PydanticCustomError as error:
            raise failure([{"type": error, "loc": (self.key,), "input": word}]) from None

    def _without_word(self, value: Mapping[str, Any]) -> ValidationError:
        """Return the mistakes of a section without its word: if another key has the word, those of the word too."""
        key = self._meant_key(value)
        if key is None:
            return failure([{"type": "missing", "loc": (self.key,), "input": value}])
        lines = [relation(f"unknown: did you mean {self.key!r}?", key, found=value[key])]
        if value[key] in self._table:
            rest = {name: item for name, item in value.items() if name != key}
            try:
                self.read({self.key: value[key], **rest})
            except ValidationError as error:
                lines += details_of(error)
        return failure(lines)

    def _meant_key(self, value: Mapping[str, Any]) -> str | None:
        """Return the unknown key that has a word of the table, or a name near to that of the missing key."""
        texts = {key: item for key, item in value.items() if isinstance(key, str) and isinstance(item, str)}
        words = {key: word for key, word in texts.items() if word in self._table}
        holding = (key for key, word in words.items() if key not in self.section(word).known_keys())
        return next(holding, nearest(self.key, texts))

    def _known(self, word: str) -> str:
        if word not in self._table:
            raise unknown_word(self.noun, word, self._table)
        return word

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        branches = [handler(self._core_schema(word)) for word in self.words]
        if self.default is not None:
            branches.append({"type": "string", "enum": list(self.words)})
        return {"anyOf": branches}

    def _core_schema(self, word: str) -> CoreSchema:
        found = self.section(word)
        found.model_rebuild()
        return found.__pydantic_core_schema__


class Later:
    """A marker in `Annotated[...]` for a section whose module is imported at its first use in a file."""

    def __init__(self, module: str, name: str) -> None:
        self._module = module
        self._name = name

    @property
    def section(self) -> type[Section]:
        """The section's class."""
        found: type[Section] = getattr(import_module(self._module), self._name)
        return found

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(lambda value: self.section.model_validate(value))

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        self.section.model_rebuild()
        return handler(self.section.__pydantic_core_schema__)
