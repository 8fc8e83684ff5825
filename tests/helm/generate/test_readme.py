"""The README has a row for every value."""

from __future__ import annotations

from helm.generate import readme
from helm.generate.values import values


def test_a_row_shows_name_default_meaning_and_choices() -> None:
    page = readme.of(values('look:\n  # Its colour.\n  # @ {"enum": ["red", "blue"]}\n  colour: red\n'))
    assert page.splitlines()[-1] == '| `look.colour` | `"red"` | Its colour. One of red, blue. |'
