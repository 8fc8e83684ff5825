"""Other values for a field, from its schema in the contract."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from trainwright_api.schema.field_schema import FieldSchema

_NUMBERS = (0.5, 0.1, 2.0, 0.01, 30.0)
_INTEGERS = (1, 2, 3, 4, 7)
_TESTS = {"ge": operator.ge, "gt": operator.gt, "le": operator.le, "lt": operator.lt}


def other_words(schema: FieldSchema, now: Any) -> list[Any]:
    """The words that the field allows besides `now`, and None if the field is nullable and `now` is not None."""
    words = [word for one in (schema, *schema.branches) for word in one.words]
    if schema.choice is not None:
        words = list(schema.choice.words)
    found = [word for word in words if word != now]
    return [*found, None] if schema.nullable and now is not None else found


def other_values(schema: FieldSchema, now: Any) -> list[Any]:
    """The flags and numbers that the field allows besides `now`. One of them has to make a difference."""
    return [value for value in _values(schema) if value != now or type(value) is not type(now)]


def _values(schema: FieldSchema) -> Iterator[Any]:
    for one in (schema, *schema.branches):
        match one.kind:
            case "flag":
                yield from (True, False)
            case "integer":
                yield from (value for value in _INTEGERS if _within(value, one))
            case "number":
                yield from (value for value in _NUMBERS if _within(value, one))


def _within(value: float, schema: FieldSchema) -> bool:
    return all(test(value, schema.limits[name]) for name, test in _TESTS.items() if name in schema.limits)
