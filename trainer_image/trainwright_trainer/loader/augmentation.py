"""Random transforms of one image, with torchvision's functions. The draws depend on (seed, epoch, row number) alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import Any, cast

import torch

from trainwright_api.config import augmentation as config
from trainwright_trainer.data.order import Purpose, key

_UNIT = 2.0**-53


class Draws:
    """Random numbers for one image: a function of the words that are given, and of how many were drawn before."""

    def __init__(self, seed: int, *words: int) -> None:
        self._seed, self._words, self._drawn = seed, words, 0

    def fraction(self) -> float:
        """A number of [0, 1)."""
        self._drawn += 1
        return (key(self._seed, Purpose.AUGMENTATION, *self._words, self._drawn) >> 11) * _UNIT

    def between(self, low: float, high: float) -> float:
        return low + (high - low) * self.fraction()

    def below(self, count: int) -> int:
        """A whole number of 0 … count - 1."""
        return int(self.fraction() * count)


class Augmentation:
    """The transforms of a feature, one after another: uint8 [channels, height, width] → the same."""

    def __init__(self, sections: Sequence[config.Augmentation]) -> None:
        self._sections = sections

    def __bool__(self) -> bool:
        return bool(self._sections)

    def __call__(self, image: torch.Tensor, draws: Draws) -> torch.Tensor:
        for section in self._sections:
            image = OPERATIONS[type(section)](image, section, draws)
        return image


def _functional() -> Any:
    return import_module("torchvision.transforms.v2.functional")


def _horizontal_flip(image: torch.Tensor, section: Any, draws: Draws) -> Any:  # noqa: ARG001
    return _functional().horizontal_flip(image) if draws.fraction() < 0.5 else image


def _vertical_flip(image: torch.Tensor, section: Any, draws: Draws) -> Any:  # noqa: ARG001
    return _functional().vertical_flip(image) if draws.fraction() < 0.5 else image


def _rotate(image: torch.Tensor, section: config.RandomRotate, draws: Draws) -> Any:
    return _functional().rotate(image, draws.between(-section.degree, section.degree))


def _blur(image: torch.Tensor, section: config.RandomBlur, draws: Draws) -> Any:
    """The width of the blur is drawn as by torchvision's GaussianBlur."""
    functional, size = _functional(), section.kernel_size
    smallest = min(image.shape[1:])
    size = min(size, smallest - 1 + smallest % 2)  # reflection at the borders needs an image larger than half of it
    return functional.gaussian_blur(image, [size, size], [draws.between(0.1, 2.0)])


def _brightness(image: torch.Tensor, section: config.RandomBrightness, draws: Draws) -> Any:
    return _coloured(_functional().adjust_brightness, image, draws.between(section.min, section.max))


def _contrast(image: torch.Tensor, section: config.RandomContrast, draws: Draws) -> Any:
    return _coloured(_functional().adjust_contrast, image, draws.between(section.min, section.max))


def _coloured(change: Callable[[torch.Tensor, float], Any], image: torch.Tensor, factor: float) -> Any:
    """`change` of the colours; an alpha channel stays as it is."""
    if len(image) in (1, 3):
        return change(image, factor)
    return torch.cat([change(image[:-1], factor), image[-1:]])


def _automatic(image: torch.Tensor, section: config.AutoAugmentation, draws: Draws) -> Any:
    """The published policies with torchvision's operations and magnitudes."""
    if len(image) in (2, 4):
        return torch.cat([_automatic(image[:-1], section, draws), image[-1:]])
    return POLICIES[section.method](image, draws)


def _trivial_augment(image: torch.Tensor, draws: Draws) -> torch.Tensor:
    """TrivialAugment (Wide): one operation with any magnitude."""
    transform = _transform("TrivialAugmentWide")
    return _applied(transform, image, _drawn(transform._AUGMENTATION_SPACE, draws), draws)


def _rand_augment(image: torch.Tensor, draws: Draws) -> torch.Tensor:
    """RandAugment: two operations with magnitude 9 of 31."""
    transform = _transform("RandAugment")
    for _ in range(transform.num_ops):
        name = _drawn(transform._AUGMENTATION_SPACE, draws)
        image = _applied(transform, image, name, draws, int(transform.magnitude))
    return image


def _auto_augment(image: torch.Tensor, draws: Draws) -> torch.Tensor:
    """AutoAugment: one of the 25 pairs of operations that were learnt on ImageNet."""
    transform = _transform("AutoAugment")
    for name, chance, magnitude in transform._policies[draws.below(len(transform._policies))]:
        if draws.fraction() <= chance:
            image = _applied(transform, image, name, draws, magnitude)
    return image


@cache
def _transform(name: str) -> Any:
    """torchvision's transform. Its operations are used, and not its draws: these come from torch's generator."""
    return getattr(import_module("torchvision.transforms.v2"), name)()


def _drawn(space: Mapping[str, Any], draws: Draws) -> str:
    return list(space)[draws.below(len(space))]


def _applied(
    transform: Any, image: torch.Tensor, name: str, draws: Draws, magnitude: int | None = None
) -> torch.Tensor:
    """One operation. `magnitude`: the number of its strength; None: any."""
    magnitudes, signed = transform._AUGMENTATION_SPACE[name]
    bins = getattr(transform, "num_magnitude_bins", 10)
    strengths = magnitudes(bins, *image.shape[1:])
    strength = 0.0
    if strengths is not None:
        strength = float(strengths[draws.below(len(strengths)) if magnitude is None else magnitude])
        if signed and draws.fraction() < 0.5:
            strength = -strength
    fill = transform._fill
    found = transform._apply_image_or_video_transform(
        image, name, strength, interpolation=transform.interpolation, fill=fill
    )
    return cast(torch.Tensor, found)


POLICIES: Mapping[str, Callable[[torch.Tensor, Draws], torch.Tensor]] = {
    "trivial_augment": _trivial_augment,
    "auto_augment": _auto_augment,
    "rand_augment": _rand_augment,
}
OPERATIONS: Mapping[type[config.Augmentation], Callable[[torch.Tensor, Any, Draws], torch.Tensor]] = {
    config.RandomHorizontalFlip: _horizontal_flip,
    config.RandomVerticalFlip: _vertical_flip,
    config.RandomRotate: _rotate,
    config.RandomBlur: _blur,
    config.RandomBrightness: _brightness,
    config.RandomContrast: _contrast,
    config.AutoAugmentation: _automatic,
}
