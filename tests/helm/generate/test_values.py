"""values.yaml is read with its comments."""

from __future__ import annotations

import pytest
from helm.generate.values import Value, values

TEXT = """\
# What is above a gap belongs to nothing.

# How things look.
look:
  # One line,
  # and another.
  # @ {"enum": ["red", "blue"]}
  colour: red
  # Where it is written.
  place: {group: 1}
parts:
  # How many.
  count: 2
"""


def leaves(text: str) -> dict[str, Value]:
    return {value.name: value for value in values(text).leaves()}


def test_what_has_a_comment_and_nothing_described_below_it_can_be_set() -> None:
    assert {name: value.default for name, value in leaves(TEXT).items()} == {
        "look.colour": "red",
        "look.place": {"group": 1},
        "parts.count": 2,
    }


def test_lines_are_joined_and_rules_are_read() -> None:
    colour = leaves(TEXT)["look.colour"]
    assert (colour.description, colour.rules) == ("One line, and another.", {"enum": ["red", "blue"]})


def test_a_rule_may_have_several_lines() -> None:
    text = TEXT.replace(
        '  # @ {"enum": ["red", "blue"]}', '  # @ {"enum": ["red",\n  # @ "blue"]}\n  # @ {"minLength": 1}'
    )
    assert leaves(text)["look.colour"].rules == {"enum": ["red", "blue"], "minLength": 1}


def test_what_holds_others_may_be_described_too() -> None:
    look, parts = values(TEXT).parts
    assert (look.description, parts.description) == ("How things look.", "")


def test_a_value_without_a_comment_is_refused() -> None:
    with pytest.raises(ValueError, match=r"^values.yaml: look.size has no comment$"):
        values(TEXT.replace("parts:", "  size: 3\nparts:"))
