"""Vectors of words from a file: the known words have theirs, the others the mean; and each mistake is one line."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from trainwright_api.problems import Mistakes
from trainwright_trainer.layers.embedding import Embedding
from trainwright_trainer.layers.stored_vectors import StoredVectors

WORDS = ["<UNK>", "red", "new york", "blue"]
LINES = "red 1 2 3\nnew york -1 0 1e-1\ngreen 9 9 9\n\n"


def stored(folder: Path, content: str | bytes = LINES, width: int = 3) -> StoredVectors:
    file = folder / "vectors.txt"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return StoredVectors(str(file), WORDS, width, "config.x")


@pytest.mark.parametrize("first", ["", "3 3\n"])  # a .vec file begins with its sizes
def test_known_words_have_their_vectors_and_others_nearly_the_mean(first: str, tmp_path: Path) -> None:
    table = Embedding(4, 3, None, "", stored=stored(tmp_path, first + LINES)).weight
    assert table[1].tolist() == [1, 2, 3]
    assert table[2].tolist() == pytest.approx([-1, 0, 0.1])
    for row in (0, 3):
        assert table[row].tolist() == pytest.approx([0, 1, 1.55], abs=0.01)
    assert not torch.equal(table[0], table[3])


def test_the_noise_follows_from_the_generator(tmp_path: Path) -> None:
    found = [torch.empty(4, 3) for _ in range(2)]
    for one in found:
        stored(tmp_path).fill(one, torch.Generator().manual_seed(5))
    assert torch.equal(*found)


def test_the_width_is_that_of_the_file_also_of_a_small_vocabulary(tmp_path: Path) -> None:
    wide = stored(tmp_path, "red " + " ".join(["1"] * 9), 9)
    assert Embedding(4, 9, None, "", stored=wide).weight.shape == (4, 9)


@pytest.mark.parametrize(
    ("content", "width", "line"),
    [
        (LINES, 4, "has vectors of 3 numbers, and embedding_size is 4"),
        ("red 1 2 3\nblue 1 2\n", 3, "has 2 numbers in line 2, and 3 in the first"),
        ("red 1 2 x\n", 3, "has a word in line 1 that is no number"),
        ("green 1 2 3\n", 3, "has a vector for none of the 4 tokens"),
        ("", 3, "has a vector for none of the 4 tokens"),
        (b"\xff\xfe", 3, "is no text in UTF-8"),
    ],
)
def test_a_mistake_is_one_line(content: str | bytes, width: int, line: str, tmp_path: Path) -> None:
    with pytest.raises(Mistakes, match=line) as mistakes:
        stored(tmp_path, content, width).check()
    assert str(mistakes.value).startswith(f"config.x: '{tmp_path}/vectors.txt' ")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(Mistakes, match="cannot be read: No such file or directory"):
        StoredVectors(str(tmp_path / "nowhere.txt"), WORDS, 3, "config.x").check()
