"""A mistake in a user's file: its path, and one line with the value found and the value expected. Checks collect every
`Problem` and raise all of them together as `Mistakes`, so that a user corrects a file in one go.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, order=True)
class Problem:
    """One mistake. `path` is dotted with list positions in brackets, as in `config.input_features[3].type`."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path}: {self.message}" if self.path else self.message


class OneLine(Exception):
    """An exception with a message for the user. A notebook shows the message without a traceback."""

    def _render_traceback_(self) -> list[str]:
        """The lines that IPython prints. It calls this method if an exception has it."""
        return [f"{type(self).__name__}: {self}"]


class Mistakes(OneLine):
    """All mistakes of one file, in the order of the file. The command line ends with exit code 2."""

    def __init__(self, problems: Iterable[Problem]) -> None:
        self.problems = tuple(problems)
        super().__init__("; ".join(map(str, self.problems)))

    def _render_traceback_(self) -> list[str]:
        return self.render(type(self).__name__).splitlines()

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
    return next(iter(nearest_names(name, candidates, 1)), None)


def question(name: str, candidates: Iterable[str]) -> str:
    """Return the question whether the nearest candidate was meant, or "" if none is near.

    It names two candidates if both add words to the name, as random_horizontal_flip and random_vertical_flip do.
    """
    near = nearest_names(name, candidates, 2)
    both = all(_words(name) < _words(candidate) for candidate in near)
    named = " or ".join(map(repr, near if both else near[:1]))
    return f"did you mean {named}?" if named else ""


def nearest_names(name: str, candidates: Iterable[str], most: int) -> list[str]:
    """Return at most `most` candidates that are near to `name`, the nearest first: those with all of its words."""
    return list(_nearest_names(name, tuple(candidates), most))


@lru_cache(maxsize=4096)
def _nearest_names(name: str, candidates: tuple[str, ...], most: int) -> tuple[str, ...]:
    """The comparison is slow, and several steps of a validation ask for the same names."""
    by_folded = {candidate.casefold(): candidate for candidate in candidates}
    near = difflib.get_close_matches(name.casefold(), by_folded, n=len(by_folded) or 1, cutoff=0.6)
    near.sort(key=lambda found: not _words(name) <= _words(found))
    return tuple(by_folded[found] for found in near[:most])


def _words(name: str) -> set[str]:
    return set(re.split(r"[\W_]+", name.casefold()))


def not_built(found: str, instead: str = "") -> str:
    """Return the line for an unbuilt part: the word found, and the alternative of this version."""
    return f"not built yet{f': {found}' if found else ''}{f' ({instead})' if instead else ''}"
