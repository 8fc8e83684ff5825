"""Image features: a column of paths or of encoded images. The bytes are kept as they are, and decoded for each batch.

Each image is decoded once while it is encoded, so that a damaged one is found before training. A missing image that
`fill_with_const` fills has no bytes; `fill_with_mode` fills it with the image that most training rows have.
"""

from __future__ import annotations

import hashlib
from base64 import b64decode, b64encode
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from trainwright_api.problems import Mistakes
from trainwright_trainer.features import pillow, pixels
from trainwright_trainer.features.column import Cleaned, Encoded, Feature, Rounds, Statistics, missing_fact
from trainwright_trainer.features.errors import WrongTypeError, kind_of
from trainwright_trainer.features.missing import settle_lists
from trainwright_trainer.features.pixels import CHANNELS, UnreadableImageError, decoded
from trainwright_trainer.features.texts import counts_of, total

_UNBUILT = ("computed_fill_value", "in_memory", "num_classes", "infer_image_num_classes")
_DECODERS: Mapping[str, Any] = {"torchvision": pixels, "pillow": pillow}
NO_FILE, DAMAGED, CONVERTED = (
    "paths at which there is no file",
    "files that are damaged, or no JPEG, PNG, GIF or WebP",
    "images with other channels, which are converted",
)


@dataclass(frozen=True)
class Sample:
    """Rows, missing rows, and the first values of some training rows.

    `counts`: the occurrences of each image, by `_keys`, if missing ones are filled with the most frequent.
    """

    rows: int
    missing: int
    first: pa.Array
    counts: pa.Table


def refuse(feature: Feature) -> None:
    _DECODERS[feature.decoder].check_installed(f"{feature.path}.type")
    for option in _UNBUILT:
        feature.refuse_set(option)
    section, path = feature.preprocessing, f"{feature.path}.preprocessing"
    if (section.height is None) != (section.width is None):
        missing = "width" if section.width is None else "height"
        raise Mistakes.one(f"{path}.{missing}", "null: height and width are given together")
    if section.num_channels not in (None, *CHANNELS):
        raise Mistakes.one(
            f"{path}.num_channels", f"{section.num_channels}: expected one of {', '.join(map(str, CHANNELS))}"
        )
    if section.standardize_image is not None and section.num_channels not in (None, 3):
        raise Mistakes.one(f"{path}.standardize_image", "imagenet1k: its statistics are those of 3 channels")
    if (section.fill_value or 0) > 255:
        raise Mistakes.one(f"{path}.fill_value", f"{section.fill_value:g}: a pixel has values from 0 to 255")


def clean(feature: Feature, values: pa.Array, first_row: int) -> Cleaned:  # noqa: ARG001
    """`string`: the paths, or `large_binary`: the encoded images. Empty ones are missing."""
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    kind = values.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        found = values.cast(pa.large_binary())
    elif kind_of(kind) in ("text", "empty"):
        found = values.cast(pa.string())
    else:
        raise WrongTypeError(f"holds {kind_of(kind)}: an image is a path, or the bytes of a file.")
    return Cleaned(pc.if_else(pc.equal(pc.binary_length(found), 0), pa.scalar(None, found.type), found))


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
            content = _content(feature, value)
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
        **({"mode": whole.counts["value"][0].as_py()} if len(whole.counts) else {}),
    }


def _mode(feature: Feature, value: str | bytes) -> bytes:
    """The content of the most frequent image. Raises `WrongTypeError` if it cannot be read."""
    try:
        content = _content(feature, value)
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


def notices(feature: Feature, statistics: Statistics) -> list[str]:  # noqa: ARG001
    return []


def encode(feature: Feature, values: pa.Array, statistics: Statistics, first_row: int) -> Encoded:  # noqa: ARG001
    """`large_binary`: the bytes of each image."""
    check = _checked(feature, statistics["channels"])
    with ThreadPoolExecutor(feature.preprocessing.num_processes, thread_name_prefix="images") as pool:
        found = list(pool.map(check, values.to_pylist()))
    contents = pa.array([content for content, _ in found], pa.large_binary())
    noted = Counter(line for _, line in found if line)
    missing = contents.is_null().to_numpy(zero_copy_only=False) if contents.null_count else None
    fill = b64decode(statistics["fill"]) if feature.strategy == "fill_with_mode" else b""
    settled = settle_lists(contents, missing, feature.strategy, fill)
    return replace(settled, unknown=noted[NO_FILE] + noted[DAMAGED], noted=noted)


def _checked(feature: Feature, channels: int) -> Callable[[str | bytes | None], tuple[bytes | None, str | None]]:
    """Value → the bytes of its image, or None if there is none, and a line on it."""
    count = _DECODERS[feature.decoder].channels_of

    def check(value: str | bytes | None) -> tuple[bytes | None, str | None]:
        if value is None:
            return None, None
        try:
            content = _content(feature, value)
            own = count(content)
        except FileNotFoundError:
            return None, NO_FILE
        except UnreadableImageError:
            return None, DAMAGED
        return content, None if own == channels else CONVERTED

    return check


def _content(feature: Feature, value: str | bytes) -> bytes:
    if isinstance(value, bytes):
        return value
    assert feature.files is not None, "a feature with files knows their place"
    return feature.files.read(value)


def facts(statistics: Statistics) -> dict[str, str]:
    channels = "1 channel" if statistics["channels"] == 1 else f"{statistics['channels']} channels"
    size = f"{statistics['height']} × {statistics['width']} pixels, {channels}"
    return {"read as": size, "mean size of a file": f"{statistics['length'] / 1000:.3g} kB", **missing_fact(statistics)}


def distribution(statistics: Statistics) -> None:
    """None: images have no axis."""
