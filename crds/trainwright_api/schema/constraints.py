"""Constraints for `Annotated[…]` on Kubernetes fields. Both pydantic and the CRD check them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic.alias_generators import to_snake
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from trainwright_api.schema.section import failure, relation, shown

LONGEST_PREFIX = 253
"""The maximum length of the prefix of a key such as example.com/team."""


class Time:
    """A text is a point in time in Kubernetes' format.

    With OpenAPI's format date-time, the API server would accept other forms, and even lists, on which its rules fail.
    """

    pattern = (
        r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]"
        r"(\.[0-9]+)?(Z|[+-]([01][0-9]|2[0-3]):[0-5][0-9])$"
    )

    def check(self, text: str) -> str:
        if not self._is_time(text):
            context = {"expected": "a time such as 2026-05-01T12:00:00Z", "found": shown(text)}
            raise PydanticCustomError("kind", "expected {expected}, found {found}", context)
        return text

    def _is_time(self, text: str) -> bool:
        """Return True for a valid time. The pattern alone accepts day 31 of every month, and year 0."""
        try:
            return re.fullmatch(self.pattern, text) is not None and bool(datetime.fromisoformat(text))
        except ValueError:
            return False

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))


class KeyedBy:
    """The items of a list have unique keys, as in Kubernetes' lists of type map."""

    def __init__(self, key: str) -> None:
        self.key = key

    def check(self, items: list[Any]) -> list[Any]:
        """Return the items. Raises an error at the first duplicate key."""
        attribute = to_snake(self.key)
        seen: set[Any] = set()
        for position, item in enumerate(items):
            value = getattr(item, attribute)
            if value in seen:
                raise failure([relation(f"{value!r} is in the list already", position, self.key, found=value)])
            seen.add(value)
        return items

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_after_validator_function(self.check, handler(source))


@dataclass(frozen=True)
class Keys:
    """The keys of a mapping match a pattern."""

    pattern: str = ""
    expected: str = ""
    null: str | None = None
    """The value that replaces null. None: the key is dropped, as the API server does outside of metadata."""

    @property
    def rule(self) -> str:
        """The constraint in CEL."""
        return f"self.all(key, key.matches('{self.pattern}') && key.indexOf('/') <= {LONGEST_PREFIX})"

    def check(self, values: dict[str, Any]) -> dict[str, Any]:
        wrong = [key for key in values if not self._is_key(key)]
        if wrong:
            raise failure([relation(f"expected {self.expected}, found {shown(key)}", key, found=key) for key in wrong])
        return values

    def _is_key(self, key: str) -> bool:
        return not self.pattern or (re.fullmatch(self.pattern, key) is not None and key.find("/") <= LONGEST_PREFIX)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        checked = core_schema.no_info_after_validator_function(self.check, handler(source))
        return core_schema.no_info_before_validator_function(self._without_nulls, checked)

    def _without_nulls(self, values: Any) -> Any:
        if not isinstance(values, Mapping):
            return values
        read = {key: self.null if value is None else value for key, value in values.items()}
        return {key: value for key, value in read.items() if value is not None}
