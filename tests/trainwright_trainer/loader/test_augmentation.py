"""Augmentation: each operation acts, and its draws depend on the words that are given alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from trainwright_api.config.augmentation import AUGMENTATION, AUGMENTATIONS
from trainwright_trainer.loader.augmentation import OPERATIONS, POLICIES, Augmentation, Draws


def image(channels: int = 3) -> torch.Tensor:
    pixels = np.random.default_rng(0).integers(0, 256, (channels, 12, 14), dtype=np.uint8)
    return torch.from_numpy(pixels)


def augmented(given: Any, channels: int = 3) -> list[torch.Tensor]:
    """The image in the augmentation of 60 rows."""
    augment = Augmentation(AUGMENTATIONS.read(given))
    return [augment(image(channels), Draws(7, 0, row, 0)) for row in range(60)]


def different(images: list[torch.Tensor]) -> int:
    return len({one.numpy().tobytes() for one in images})


def test_every_operation_is_built() -> None:
    assert {section.model_fields["type"].default for section in OPERATIONS} == set(AUGMENTATION.words)


@pytest.mark.parametrize("channels", [1, 2, 3, 4])
@pytest.mark.parametrize("word", AUGMENTATION.words)
def test_an_operation_keeps_the_form_and_changes_the_pixels(word: str, channels: int) -> None:
    found = augmented([word], channels)
    assert all(one.shape == (channels, 12, 14) and one.dtype == torch.uint8 for one in found)
    assert different(found) == (2 if "flip" in word else pytest.approx(60, abs=45))
    if channels in (2, 4) and word in ("auto_augmentation", "random_brightness", "random_contrast"):
        assert all(torch.equal(one[-1], image(channels)[-1]) for one in found)


def test_flips_are_those_of_the_axes_for_half_of_the_rows() -> None:
    for word, axis in (("random_horizontal_flip", 2), ("random_vertical_flip", 1)):
        found = augmented([word])
        flipped = sum(torch.equal(one, image().flip(axis)) for one in found)
        assert flipped + sum(torch.equal(one, image()) for one in found) == 60
        assert 15 < flipped < 45


@pytest.mark.parametrize("method", POLICIES)
def test_a_policy_draws_its_operations(method: str) -> None:
    assert different(augmented([{"type": "auto_augmentation", "method": method}])) > 15


@pytest.mark.parametrize(
    ("small", "large"),
    [
        ({"type": "random_rotate", "degree": 1}, {"type": "random_rotate", "degree": 90}),
        ({"type": "random_brightness", "min": 1.0, "max": 1.0}, {"type": "random_brightness", "min": 0.1, "max": 0.2}),
        ({"type": "random_contrast", "min": 1.0, "max": 1.0}, {"type": "random_contrast", "min": 0.1, "max": 0.2}),
        ({"type": "random_blur", "kernel_size": 1}, {"type": "random_blur", "kernel_size": 9}),
    ],
)
def test_a_field_changes_the_strength(small: dict[str, Any], large: dict[str, Any]) -> None:
    def change(given: dict[str, Any]) -> float:
        return sum(float((one.float() - image().float()).abs().mean()) for one in augmented([given]))

    assert change(small) < change(large)


def test_draws_depend_on_seed_epoch_row_and_column_alone() -> None:
    words = [(7, 0, 1, 0), (8, 0, 1, 0), (7, 1, 1, 0), (7, 0, 2, 0), (7, 0, 1, 1)]
    firsts = [Draws(*one).fraction() for one in words]
    assert len(set(firsts)) == 5
    assert firsts == [Draws(*one).fraction() for one in words]
    draws = Draws(7, 0, 1, 0)
    many = np.array([draws.fraction() for _ in range(4_000)])
    assert 0 <= many.min() < many.max() < 1
    assert many.mean() == pytest.approx(0.5, abs=0.03)
    assert {draws.below(3) for _ in range(50)} == {0, 1, 2}


def test_true_is_a_flip_and_a_rotation() -> None:
    assert [one.type for one in AUGMENTATIONS.read(True)] == ["random_horizontal_flip", "random_rotate"]  # type: ignore[attr-defined]
    assert different(augmented(True)) > 20
