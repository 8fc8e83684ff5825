"""A mistake in a user's file: its path, and one line with the value found and the value expected. Checks collect every
`Problem` and raise all of them together as `Mistakes`, so that a user corrects a file in one go.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Problem:
    """One mistake. `path` is dotted with list positions in brackets, as in `config.input_features[3].type`."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class Mistakes(Exception):
    """All mistakes of one file, in the order of the file. The command line ends with exit code 2."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(map(str, self.problems)))

    @classmethod
    def one(cls, path: str, message: str) -> Mistakes:
        return cls([Problem(path, message)])

    def render(self, source: str) -> str:
        """Return the text for a terminal: one line for one mistake, a small table for several."""
        if len(self.problems) == 1:
            return f"{source}: {self.problems[0]}"
        width = max(len(problem.path) for problem in self.problems)
        lines = [f"  {problem.path:<{width}}  {problem.message}" for problem in self.problems]
        return "\n".join([f"{source}: {len(self.problems)} mistakes", *lines])


def nearest(name: str, candidates: Iterable[str]) -> str | None:
    """Return the candidate nearest to `name`, or None if none is near."""
    by_folded = {candidate.casefold(): candidate for candidate in candidates}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def not_built(found: str, instead: str = "") -> str:
    """Return the line for an unbuilt part: the word found, and the alternative of this version."""
    return f"not built yet{f': {found}' if found else ''}{f' ({instead})' if instead else ''}"
