"""Every kind of error that pydantic raises becomes a message for people."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import pytest
from pydantic import Field, ValidationError

from trainwright_api.checks.error_messages import lines, names
from trainwright_api.schema.section import Section
from trainwright_api.schema.unions import PositiveIntOrAuto


class Everything(Section):
    """One field of each kind."""

    whole: Annotated[int, Field(ge=1, le=9)] = 1
    share: Annotated[float, Field(gt=0, lt=1)] = 0.5
    flag: bool = False
    word: Literal["zscore", "minmax"] = "zscore"
    depth: Literal[18, 34, 50] = 18
    text: Annotated[str, Field(min_length=2, max_length=4, pattern="^[a-z]*$")] = "ab"
    items: Annotated[list[int], Field(min_length=1, max_length=2)] = Field(default_factory=lambda: [1])
    keys: dict[str, int] = Field(default_factory=dict)
    pair: tuple[float, float] = (0.9, 0.999)
    size: PositiveIntOrAuto = "auto"
    max_bytes: int = 1


CASES: dict[str, tuple[str, Any, str]] = {
    "a text for a number": (
        "whole",
        "3",
        "expected a whole number, found the text '3': write it without quotes and underscores",
    ),
    "a name of a file that is no text": ("text", "\udcff", "expected a text in UTF-8, found the text '\\udcff'"),
    "a size with its unit": ("max_bytes", "20GB", "expected a number of bytes, found the text '20GB'"),
    "a fraction of a byte": ("max_bytes", 2.5, "expected a number of bytes, found the number 2.5"),
    "a word for a number": ("whole", "three", "expected a whole number, found the text 'three'"),
    "a fraction for a whole number": ("whole", 2.5, "expected a whole number, found the number 2.5"),
    "true for a number": ("whole", True, "expected a whole number, found true (yes or no)"),
    "too small": ("whole", 0, "expected at least 1, found the number 0"),
    "too large": ("whole", 10, "expected at most 9, found the number 10"),
    "not above": ("share", 0, "expected more than 0, found the number 0"),
    "not below": ("share", 1, "expected less than 1, found the number 1"),
    "nothing": ("share", None, "expected a number, found nothing (null)"),
    "a number for a flag": ("flag", 1, "expected true or false, found the number 1"),
    "a word of YAML 1.1 for a flag": ("flag", "off", "expected true or false, found the text 'off': write false"),
    "a misspelt word": ("word", "zscor", "expected zscore or minmax, found the text 'zscor': did you mean 'zscore'?"),
    "no word": ("word", 3, "expected zscore or minmax, found the number 3"),
    "none of the numbers": ("depth", 19, "expected 18, 34 or 50, found the number 19"),
    "one of the numbers in quotes": (
        "depth",
        "18",
        "expected 18, 34 or 50, found the text '18': write it without quotes",
    ),
    "another number in quotes": ("depth", "180", "expected 18, 34 or 50, found the text '180'"),
    "a misspelt word where a number may stand too": (
        "size",
        "auot",
        "expected a whole number of at least 1, or the word auto, found the text 'auot': did you mean 'auto'?",
    ),
    "a word of the sentence": (
        "size",
        "word",
        "expected a whole number of at least 1, or the word auto, found the text 'word'",
    ),
    "a number in quotes where a word may stand too": (
        "size",
        "128",
        "expected a whole number of at least 1, or the word auto, found the text '128': write it without quotes and "
        "underscores",
    ),
    "a number for a text": ("text", 3, "expected a text, found the number 3"),
    "too short a text": ("text", "a", "expected at least 2 characters, found the text 'a'"),
    "too long a text": ("text", "abcde", "expected at most 4 characters, found the text 'abcde'"),
    "wrong letters": ("text", "AB", "expected a text like ^[a-z]*$, found the text 'AB'"),
    "no list": ("items", {"a": 1}, "expected a list, found keys and values"),
    "an empty list": ("items", [], "expected at least 1 in it, found none"),
    "too long a list": ("items", [1, 2, 3], "expected at most 2 in it, found 3"),
    "no keys": ("keys", [1], "expected keys and values, found a list"),
    "a long text": ("whole", "x" * 500, f"expected a whole number, found the text '{'x' * 50}…"),
}


@pytest.mark.parametrize(("field", "value", "line"), CASES.values(), ids=CASES.keys())
def test_an_error_is_reported_in_words(field: str, value: Any, line: str) -> None:
    with pytest.raises(ValidationError) as caught:
        Everything.model_validate({field: value})
    assert lines(caught.value) == [((field,), line)]


def test_the_place_of_a_mistake_is_the_place_in_the_file() -> None:
    with pytest.raises(ValidationError) as caught:
        Everything.model_validate({"items": [1, "x"], "keys": {"a": 1, "b": "y"}})
    assert [at for at, _ in lines(caught.value)] == [("items", 1), ("keys", "b")]


def test_a_missing_key_that_stands_there_misspelt_is_one_mistake() -> None:
    class NeedsColumn(Section):
        column: str

    with pytest.raises(ValidationError) as caught:
        NeedsColumn.model_validate({"colum": "a"})
    assert lines(caught.value) == [(("colum",), "unknown: did you mean 'column'? the file has column")]


def test_a_missing_key_is_reported_as_missing() -> None:
    class NeedsColumn(Section):
        column: str

    with pytest.raises(ValidationError) as caught:
        NeedsColumn.model_validate({})
    assert lines(caught.value) == [(("column",), "missing: it must be given")]


def test_a_long_list_of_names_is_cut() -> None:
    assert names([f"n{i}" for i in range(30)]).endswith("n13, … (30 in all)")
    assert names(["a", "b", "c"], "or") == "a, b or c"
    assert names(["a"], "or") == "a"
