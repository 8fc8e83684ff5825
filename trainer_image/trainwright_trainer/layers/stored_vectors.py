"""Vectors of words from a file in GloVe's text format: in each line a word and its numbers, with spaces between them.

As in Ludwig, a word without a vector begins with the mean of the vectors that are found, and a little noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import torch

from trainwright_api.problems import Mistakes

_NOISE = 0.01
"""Its largest value, as in Ludwig."""


@dataclass(frozen=True)
class StoredVectors:
    """The initial values of a table with a row for each of `words`. `path`: the path of `file` in the config.

    The file is read before a run begins, and never for a saved model.
    """

    file: str
    words: Sequence[str] = field(repr=False)
    width: int
    path: str

    def check(self) -> None:
        """Raise `Mistakes` if the file cannot be read, or has vectors of another width or of other words alone."""
        if not self._found:
            raise self._mistake(f"has a vector for none of the {len(self.words):,} tokens")

    @torch.no_grad()
    def fill(self, tensor: torch.Tensor, generator: torch.Generator | None = None) -> None:
        self.check()
        mean = torch.stack(list(self._found.values())).mean(0)
        tensor.uniform_(-_NOISE, _NOISE, generator=generator).add_(mean)
        for row, word in enumerate(self.words):
            if word in self._found:
                tensor[row] = self._found[word]

    @cached_property
    def _found(self) -> Mapping[str, torch.Tensor]:
        known = set(self.words)
        try:
            with Path(self.file).expanduser().open(encoding="utf-8") as lines:
                return dict(self._vectors(lines, known))
        except UnicodeDecodeError as error:
            raise self._mistake("is no text in UTF-8") from error
        except OSError as error:
            raise self._mistake(f"cannot be read: {error.strerror}") from error

    def _vectors(self, lines: Iterator[str], known: set[str]) -> Iterator[tuple[str, torch.Tensor]]:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            word, *numbers = line.rstrip().rsplit(" ", self.width)
            if number == 1:
                found = len(line.split()) - 1
                if found == 1 and self.width > 1:
                    continue  # the first line of a .vec file: the number of words, and of the numbers of each
                if found != self.width:
                    raise self._mistake(f"has vectors of {found} numbers, and embedding_size is {self.width}")
            if len(numbers) != self.width:
                raise self._mistake(f"has {len(numbers)} numbers in line {number}, and {self.width} in the first")
            if word in known:
                try:
                    yield word, torch.tensor([float(each) for each in numbers])
                except ValueError as error:
                    raise self._mistake(f"has a word in line {number} that is no number: {error}") from error

    def _mistake(self, line: str) -> Mistakes:
        return Mistakes.one(self.path, f"{self.file!r} {line}")
