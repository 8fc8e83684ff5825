"""One line for the user with the missing cells of all input columns.

Cells are missing that are empty, or hold a word such as NA or null; of numbers and dates also the signs ? and -.
"""

from __future__ import annotations

from collections.abc import Mapping

_MOST_NAMED = 8


def named(counts: Mapping[str, int]) -> str:
    """`1,204 (age 1,000, plan 204)`: the sum, and the columns with the most."""
    most = sorted(counts.items(), key=lambda item: -item[1])[:_MOST_NAMED]
    shown = ", ".join(f"{column} {count:,}" for column, count in most)
    more = f" and {len(counts) - _MOST_NAMED:,} more columns" if len(counts) > _MOST_NAMED else ""
    return f"{sum(counts.values()):,} ({shown}{more})"


def missing_line(counts: Mapping[str, int], where: str = "") -> str:
    """`counts`: the number of missing cells by column, without zeros. `where`: the rows, after a space."""
    return f"missing cells{where}: {named(counts)}"
