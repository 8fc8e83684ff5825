"""The names that are suggested for a wrong one."""

from __future__ import annotations

import pytest

from trainwright_api.problems import nearest, nearest_names, question

FLIPS = ("random_blur", "random_horizontal_flip", "random_vertical_flip")


@pytest.mark.parametrize(
    ("name", "candidates", "near"),
    [
        ("numbr", ("binary", "number"), "number"),
        ("Numbr", ("binary", "NUMBER"), "NUMBER"),
        ("zzz", ("binary", "number"), None),
        ("a", (), None),
        ("random_flip", FLIPS, "random_vertical_flip"),
        ("batch_sice", ("batch_size", "max_batch_size"), "batch_size"),
    ],
)
def test_the_nearest_name_is_found(name: str, candidates: tuple[str, ...], near: str | None) -> None:
    assert nearest(name, candidates) == near


def test_names_with_all_words_come_first() -> None:
    assert nearest_names("random_flip", FLIPS, 3) == ["random_vertical_flip", "random_horizontal_flip", "random_blur"]


def test_a_question_names_both_candidates_that_add_a_word() -> None:
    assert question("random_flip", FLIPS) == "did you mean 'random_vertical_flip' or 'random_horizontal_flip'?"
    assert question("random_blurr", FLIPS) == "did you mean 'random_blur'?"
    assert question("zzz", FLIPS) == ""
