"""The statistics of images: size and channels, from the first training rows, and the most frequent image."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from trainwright_api.problems import Mistakes
from trainwright_trainer.features.column import Feature, Rounds, Statistics
from trainwright_trainer.features.errors import WrongTypeError
from trainwright_trainer.features.pixels import UnreadableImageError, decoded
from trainwright_trainer.features.texts import counts_of, total

_MOST_MODES = 100
"""Paths that are tried for the image that fills missing ones."""


@dataclass(frozen=True)
class Sample:
    """Rows, missing rows, and the first values of some training rows.

    `counts`: the occurrences of each image, by `_keys`, if missing ones are filled with the most frequent.
    """

    rows: int
    missing: int
    first: pa.Array
    counts: pa.Table


def is_encoded(values: pa.Array) -> bool:
    """True if a cleaned block holds encoded images, and not paths."""
    return bool(pa.types.is_large_binary(values.type))


def rounds(feature: Feature) -> Rounds:
    """The second round finds the content of the most frequent image."""
    return Rounds(2 if feature.strategy == "fill_with_mode" else 1)


def observe(feature: Feature, values: pa.Array, so_far: Statistics) -> Sample:
    present = values.drop_null()
    if so_far:
        mode = present.filter(pc.equal(_keys(present), so_far["mode"]))[:1]
        return Sample(len(values), values.null_count, mode, counts_of(_keys(mode[:0])))
    counted = present if feature.strategy == "fill_with_mode" else present[:0]
    return Sample(len(values), values.null_count, present[: _sample_size(feature)], counts_of(_keys(counted)))


def _keys(values: pa.Array) -> pa.StringArray:
    """A text for each image: its path, or a hash of its bytes."""
    if not is_encoded(values):
        return values
    return pa.array([hashlib.sha256(value.as_buffer()).hexdigest() for value in values], pa.string())


def merge(feature: Feature, states: Sequence[Sample]) -> Sample:
    rows, missing = sum(state.rows for state in states), sum(state.missing for state in states)
    first = pa.concat_arrays([state.first for state in states])[: _sample_size(feature)]
    return Sample(rows, missing, first, total([state.counts for state in states]))


def _sample_size(feature: Feature) -> int:
    return int(feature.preprocessing.infer_image_sample_size)


def conclude(feature: Feature, states: Sequence[Sample], so_far: Statistics) -> dict[str, Any]:
    whole = merge(feature, states)
    if so_far:
        return {**so_far, "fill": b64encode(_mode(feature, whole.first[0].as_py())).decode()}
    shapes, sizes, problem = [], [], ""
    for value in whole.first.to_pylist():
        try:
            content = content_of(feature, value)
            shapes.append(tuple(decoded(content).shape))
            sizes.append(len(content))
        except (FileNotFoundError, UnreadableImageError) as error:
            problem = problem or _shown(value, error)
    if not shapes:
        raise WrongTypeError(f"has no image in its first {len(whole.first):,} training rows{problem}.")
    height, width = _size(feature, [shape[1:] for shape in shapes])
    return {
        "type": "image",
        "rows": whole.rows,
        "missing": whole.missing,
        "channels": _channels(feature, [shape[0] for shape in shapes]),
        "height": height,
        "width": width,
        "standardize": feature.preprocessing.standardize_image,
        "length": sum(sizes) / len(sizes),
        **({"mode": _mode_key(feature, whole)} if len(whole.counts) else {}),
    }


def _mode_key(feature: Feature, whole: Sample) -> str:
    """The key of the most frequent image; of paths, of the most frequent one that can be read."""
    keys: list[str] = whole.counts["value"][:_MOST_MODES].to_pylist()
    return next((key for key in keys if is_encoded(whole.first) or _is_readable(feature, key)), keys[0])


def _is_readable(feature: Feature, path: str) -> bool:
    try:
        decoded(content_of(feature, path))
    except (FileNotFoundError, UnreadableImageError):
        return False
    return True


def _mode(feature: Feature, value: str | bytes) -> bytes:
    """The content of the most frequent image. Raises `WrongTypeError` if it cannot be read."""
    try:
        content = content_of(feature, value)
        decoded(content)
    except (FileNotFoundError, UnreadableImageError) as error:
        line = "has a most frequent image that cannot be read, so fill_with_mode has nothing to fill with"
        raise WrongTypeError(f"{line}{_shown(value, error)}.") from error
    return content


def _shown(value: str | bytes, error: Exception) -> str:
    if isinstance(error, FileNotFoundError):
        return f": there is no file {value!r}"
    return f": {value if isinstance(value, str) else 'the first one'!r} cannot be decoded ({error})"


def _size(feature: Feature, sizes: Sequence[tuple[int, ...]]) -> tuple[int, int]:
    """Height and width: given, or the mean of the sample up to the limits, or those of the first image."""
    section = feature.preprocessing
    if section.height is not None:
        height, width = section.height, section.width
    elif section.infer_image_dimensions:
        means = [sum(size[axis] for size in sizes) // len(sizes) for axis in (0, 1)]
        height = min(means[0], section.infer_image_max_height)
        width = min(means[1], section.infer_image_max_width)
    else:
        height, width = sizes[0]
        if any(size != sizes[0] for size in sizes):
            raise Mistakes.one(
                f"{feature.path}.preprocessing.height",
                "null: the images differ in size, and infer_image_dimensions is false",
            )
    if section.requires_equal_dimensions:
        height = width = min(height, width)
    return height, width


def _channels(feature: Feature, found: Sequence[int]) -> int:
    """As Ludwig: the channels of more than half of the sample, else 3; those of the first image without inference."""
    section = feature.preprocessing
    if section.num_channels is not None:
        return int(section.num_channels)
    if section.standardize_image is not None:
        return 3
    if not section.infer_image_num_channels:
        return found[0]
    most, many = Counter(found).most_common(1)[0]
    return most if many > len(found) / 2 else 3


def content_of(feature: Feature, value: str | bytes) -> bytes:
    if isinstance(value, bytes):
        return value
    assert feature.files is not None, "a feature with files knows their place"
    return feature.files.read(value)
