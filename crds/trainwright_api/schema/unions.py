"""Fields that accept values of more than one type: a number or a word, a list or a mapping.

pydantic's unions try every branch and report the failure of each. Here the type of the value selects the branch, so a
mistake is reported once, and its path does not contain the branch.
"""

from __future__ import annotations

from functools import cached_property
from typing import Annotated, Any, Literal, get_args, get_origin

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    Strict,
    TypeAdapter,
    ValidationError,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError, core_schema

from trainwright_api.schema.fields import Auto, NonNegativeInt, PositiveFloat, PositiveInt
from trainwright_api.schema.section import Section, shown

_STRICT = ConfigDict(strict=True, allow_inf_nan=False)


class ByKind:
    """Selects the branch by the type of the value. `expected` completes the sentence "expected …".

    The context of the error `kind` has the accepted words, and whether a number in quotes is meant as a number.
    """

    def __init__(
        self,
        expected: str,
        *,
        flag: Any = None,
        number: Any = None,
        text: Any = None,
        items: Any = None,
        keys: Any = None,
    ) -> None:
        self.expected = expected
        self._branches = {
            kind: branch
            for kind, branch in ((bool, flag), (int, number), (float, number), (str, text), (list, items), (dict, keys))
            if branch is not None
        }

    @property
    def branches(self) -> tuple[Any, ...]:
        """The types of the branches, each once."""
        return tuple({id(branch): branch for branch in self._branches.values()}.values())

    @cached_property
    def _adapters(self) -> dict[type, TypeAdapter[Any]]:
        return {kind: _adapter(branch) for kind, branch in self._branches.items()}

    def read(self, value: Any) -> Any:
        """Validate the value with the branch of its type."""
        kind = next((kind for kind in self._branches if type(value) is kind or _is(value, kind)), None)
        if kind is None:
            raise self._unexpected(value)
        try:
            return self._adapters[kind].validate_python(value)
        except ValidationError:
            if isinstance(value, str):
                raise self._unexpected(value) from None
            raise

    def _unexpected(self, value: Any) -> PydanticCustomError:
        text = self._branches.get(str)
        words = get_args(text) if get_origin(text) is Literal else ()
        number = int in self._branches and (text is None or bool(words))  # else a number in quotes is an accepted text
        context = {"expected": self.expected, "found": shown(value), "words": list(words), "number": number}
        return PydanticCustomError("kind", "expected {expected}, found {found}", context)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        unique = {id(branch): kind for kind, branch in self._branches.items()}
        return {"anyOf": [handler(self._adapters[kind].core_schema) for kind in unique.values()]}


def _adapter(branch: Any) -> TypeAdapter[Any]:
    """Return the adapter of a branch. Sections are already strict, and pydantic refuses a second configuration."""
    is_section = isinstance(branch, type) and issubclass(branch, Section)
    return TypeAdapter(branch) if is_section else TypeAdapter(branch, config=_STRICT)


def _is(value: Any, kind: type) -> bool:
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


PositiveIntOrAuto = Annotated[
    PositiveInt | Auto, ByKind("a whole number of at least 1, or the word auto", number=PositiveInt, text=Auto)
]
# The fields of these two types read auto, which is not built for them, so that a message can say that. None advises it.
CountOrAuto = Annotated[NonNegativeInt | Auto, ByKind("a whole number", number=NonNegativeInt, text=Auto)]
PositiveFloatOrAuto = Annotated[PositiveFloat | Auto, ByKind("a number above 0", number=PositiveFloat, text=Auto)]
_PAIR = Field(min_length=2, max_length=2)
IntOrPair = Annotated[
    int | list[int],
    ByKind(
        "a whole number of at least 1, or a list of two",
        number=PositiveInt,
        items=Annotated[list[PositiveInt], _PAIR],
    ),
]
NonNegativeIntOrPair = Annotated[
    int | list[int],
    ByKind("a whole number, or a list of two", number=NonNegativeInt, items=Annotated[list[NonNegativeInt], _PAIR]),
]
PixelPadding = Annotated[
    int | list[int] | str,
    ByKind(
        "a whole number, a list of two, or the word valid or same",
        number=NonNegativeInt,
        items=Annotated[list[NonNegativeInt], _PAIR],
        text=Literal["valid", "same"],
    ),
]


def _labels(weights: dict[Any, Any]) -> dict[Any, Any]:
    """Convert integer labels to text: YAML reads the label 0 as a number, and the vocabulary has it as text."""
    return {str(label) if type(label) is int else label: weight for label, weight in weights.items()}


ClassWeights = Annotated[
    list[float] | dict[str, float],
    ByKind(
        "a list of weights, one a class, or labels with their weights",
        items=list[Annotated[float, Field(ge=0)]],
        keys=Annotated[dict[str, Annotated[float, Field(ge=0)]], BeforeValidator(_labels)],
    ),
]
PaddingMode = Literal["zeros", "reflect", "replicate", "circular"]


def numbers(count: int, expected: str) -> BeforeValidator:
    """Return a validator that accepts only a list of `count` items, with one message for all missing items."""

    def check(value: Any) -> Any:
        if not isinstance(value, list | tuple) or len(value) != count:
            found = f"a list of {len(value)}" if isinstance(value, list | tuple) else shown(value)
            raise PydanticCustomError(
                "kind", "expected {expected}, found {found}", {"expected": expected, "found": found}
            )
        return value

    return BeforeValidator(check)


Bounds = Annotated[tuple[float, float], Strict(False), numbers(2, "a list of two numbers")]
Betas = Annotated[
    tuple[Annotated[float, Field(ge=0, lt=1)], Annotated[float, Field(ge=0, lt=1)]],
    Strict(False),
    numbers(2, "a list of two numbers"),
    Field(description="Decay rates of the averages of the gradient and its square, each at least 0 and below 1."),
]
