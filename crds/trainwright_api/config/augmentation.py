"""Random image transforms during training."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from pydantic import Field, GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, InitErrorDetails, PydanticCustomError, ValidationError, core_schema

from trainwright_api.schema.choice import Choice, Chosen
from trainwright_api.schema.fields import NonNegativeFloat, NonNegativeInt
from trainwright_api.schema.section import Section, details_of, failure, relation, shown


class Augmentation(Chosen):
    """A random image transform, applied during training. `type` selects it."""


class AutoAugmentation(Augmentation):
    """AutoAugment: a published policy of image transforms."""

    type: Literal["auto_augmentation"] = Field(
        "auto_augmentation", description="AutoAugment: a published policy of image transforms."
    )
    method: Literal["trivial_augment", "auto_augment", "rand_augment"] = Field(
        "trivial_augment", description="Name of the policy."
    )


class RandomHorizontalFlip(Augmentation):
    """A horizontal flip with probability 0.5."""

    type: Literal["random_horizontal_flip"] = Field("random_horizontal_flip", description="Horizontal flip.")


class RandomVerticalFlip(Augmentation):
    """A vertical flip with probability 0.5."""

    type: Literal["random_vertical_flip"] = Field("random_vertical_flip", description="Vertical flip.")


class RandomRotate(Augmentation):
    """Rotation by a random angle."""

    type: Literal["random_rotate"] = Field("random_rotate", description="Rotation by a random angle.")
    degree: NonNegativeInt = Field(15, description="Largest angle in either direction, in degrees.")


class RandomBlur(Augmentation):
    """Gaussian blur."""

    type: Literal["random_blur"] = Field("random_blur", description="Gaussian blur.")
    kernel_size: NonNegativeInt = Field(3, description="Size of the blur kernel in pixels. It must be odd.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.kernel_size % 2 == 0:
            yield relation(f"expected an odd number, found {self.kernel_size}", "kernel_size", found=self.kernel_size)


class RandomFactor(Augmentation):
    """A transform with a random factor between two bounds."""

    min: NonNegativeFloat = Field(0.5, description="Smallest factor.")
    max: NonNegativeFloat = Field(2.0, description="Greatest factor.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.min > self.max:
            yield relation(f"min {self.min:g} is above max {self.max:g}", "min", found=self.min)


class RandomBrightness(RandomFactor):
    """Changes the brightness by a random factor."""

    type: Literal["random_brightness"] = Field("random_brightness", description="Random brightness.")


class RandomContrast(RandomFactor):
    """Changes the contrast by a random factor."""

    type: Literal["random_contrast"] = Field("random_contrast", description="Random contrast.")


AUGMENTATION = Choice(
    "augmentation",
    "trainwright_api.config",
    {
        "auto_augmentation": "augmentation.AutoAugmentation",
        "random_horizontal_flip": "augmentation.RandomHorizontalFlip",
        "random_vertical_flip": "augmentation.RandomVerticalFlip",
        "random_rotate": "augmentation.RandomRotate",
        "random_blur": "augmentation.RandomBlur",
        "random_brightness": "augmentation.RandomBrightness",
        "random_contrast": "augmentation.RandomContrast",
    },
)
_DEFAULTS = ({"type": "random_horizontal_flip"}, {"type": "random_rotate", "degree": 15})


class _Augmentations:
    """A list of transforms. true: the two default ones. false: none."""

    items = AUGMENTATION

    def read(self, value: Any) -> list[Section]:
        if isinstance(value, bool):
            value = list(_DEFAULTS) if value else []
        if not isinstance(value, list):
            raise PydanticCustomError("kind", "expected true, false or a list, found {found}", {"found": shown(value)})
        read: list[Section] = []
        lines: list[InitErrorDetails] = []
        for position, item in enumerate(value):
            try:
                read.append(AUGMENTATION.read({"type": item} if isinstance(item, str) else item))
            except ValidationError as error:
                lines.extend({**line, "loc": (position, *line["loc"])} for line in details_of(error))
        if lines:
            raise failure(lines)
        return read

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return core_schema.no_info_plain_validator_function(self.read)

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        items = AUGMENTATION.__get_pydantic_json_schema__(schema, handler)
        return {"anyOf": [{"type": "boolean"}, {"type": "array", "items": items}]}


AUGMENTATIONS = _Augmentations()
