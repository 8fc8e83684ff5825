from __future__ import annotations

import pytest

from trainwright_api.resource.stages import comes_before, differ


@pytest.mark.parametrize(
    ("stage", "task", "before"),
    [
        ("preprocess", "train", True),
        ("preprocess", "experiment", True),
        ("preprocess", "preprocess", False),
        ("train", "train", False),
        (None, "train", False),
    ],
)
def test_only_preprocessing_comes_before_a_task(stage: str | None, task: str, before: bool) -> None:
    assert comes_before(stage, task) is before


@pytest.mark.parametrize(
    ("stage", "other", "differs"),
    [
        ("preprocess", "train", True),
        ("experiment", "preprocess", True),
        ("preprocess", None, True),
        ("train", "train", False),
        ("preprocess", "preprocess", False),
        ("written by hand", "train", False),
    ],
)
def test_there_are_but_two_stages(stage: str | None, other: str | None, differs: bool) -> None:
    assert differ(stage, other) is differs
