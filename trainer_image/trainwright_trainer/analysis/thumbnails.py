"""Small pictures of the images of some rows, as data URIs for the report."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
import torch

from trainwright_api.config import ModelConfig
from trainwright_trainer.data.prepared import TEST, TRAIN, VALIDATION, Prepared
from trainwright_trainer.features.channels import with_channels
from trainwright_trainer.features.pixels import decoded

MAX_CHARACTERS = 2_000_000
"""The characters of the data URIs of a report together."""
MOST_SAMPLES = 8
_SIDE = 96
# A small picture is exact as a PNG, and no larger than a JPEG.
_EXACT_SIDE = 32
_PNG_LEVEL, _QUALITY = 6, 80


class Thumbnails:
    """The pictures of a data set's image inputs. When they have `MAX_CHARACTERS`, there are no further ones."""

    def __init__(self, config: ModelConfig, data: Prepared) -> None:
        self._features = [feature for feature in config.input_features if feature.type == "image"]
        self._data, self._left = data, MAX_CHARACTERS

    def of_row(self, row: int) -> dict[str, str]:
        """The pictures of a row, by the column of the data set."""
        found = {str(feature.column): self._picture(feature.name, row) for feature in self._features}
        return {column: picture for column, picture in found.items() if picture}

    def samples(self) -> dict[str, Sequence[str]]:
        """The pictures of the first training rows, by feature; of the first rows of another part without any."""
        if not self._features:
            return {}
        parts = (np.unique(self._data.rows_of(part)) for part in (TRAIN, VALIDATION, TEST))
        rows: list[int] = next((rows[:MOST_SAMPLES].tolist() for rows in parts if len(rows)), [])
        return {
            feature.name: [picture for row in rows if (picture := self._picture(feature.name, row))]
            for feature in self._features
        }

    def _picture(self, name: str, row: int) -> str:
        """Empty for a missing image, and when there is no room left."""
        content = self._data.encoded_part(name, row, row + 1)[0].as_py()
        picture = data_uri(content) if content else ""
        if len(picture) > self._left:
            return ""
        self._left -= len(picture)
        return picture


def data_uri(content: bytes) -> str:
    """A picture of at most 96 × 96 pixels, gray or in colours."""
    own = decoded(content)
    image = torch.from_numpy(with_channels(own.numpy(), 1 if len(own) <= 2 else 3))
    scale = _SIDE / max(image.shape[1:])
    if scale < 1:
        functional: Any = import_module("torchvision.transforms.v2.functional")
        size = [max(1, round(side * scale)) for side in image.shape[1:]]
        image = functional.resize(image, size, antialias=True)
    is_small = max(image.shape[1:]) <= _EXACT_SIDE
    # The functions of Python around these operators give a warning for each image.
    library = torch.ops.image
    encoded: torch.Tensor = library.encode_png(image, _PNG_LEVEL) if is_small else library.encode_jpeg(image, _QUALITY)
    return f"data:image/{'png' if is_small else 'jpeg'};base64,{b64encode(encoded.numpy().tobytes()).decode()}"
