"""Image features: a column of paths or of encoded images. The bytes are kept as they are, and decoded for each batch.

Each image is decoded once while it is encoded, so that a damaged one is found before training. A missing image that
`fill_with_const` fills has no bytes; `fill_with_mode` fills it with the image that most training rows have.
"""

from __future__ import annotations

from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from trainwright_api.locations import GCS, S3
from trainwright_api.problems import Mistakes
from trainwright_trainer.features import pillow, pixels
from trainwright_trainer.features.column import Cleaned, Encoded, Feature, Statistics, missing_fact
from trainwright_trainer.features.errors import BadValueError, WrongTypeError, kind_of
from trainwright_trainer.features.image_statistics import conclude as conclude
from trainwright_trainer.features.image_statistics import content_of
from trainwright_trainer.features.image_statistics import is_encoded as is_encoded
from trainwright_trainer.features.image_statistics import merge as merge
from trainwright_trainer.features.image_statistics import observe as observe
from trainwright_trainer.features.image_statistics import rounds as rounds
from trainwright_trainer.features.missing import are_missing, settle_lists
from trainwright_trainer.features.pixels import CHANNELS, UnreadableImageError

_UNBUILT = ("computed_fill_value", "in_memory", "num_classes", "infer_image_num_classes")
_DECODERS: Mapping[str, Any] = {"torchvision": pixels, "pillow": pillow}
NO_FILE, DAMAGED, CONVERTED = (
    "paths at which there is no file",
    "files that are damaged, or no JPEG, PNG, GIF or WebP",
    "images with other channels, which are converted",
)
_BASE64 = r"^(data:image/|(/9j/|iVBORw0KGgo|R0lGOD|UklGR)[A-Za-z0-9+/]{40})"
"""The first characters of a JPEG, PNG, GIF or WebP in base64."""
_LONGEST_NAME, _LONGEST_PATH = 255, 4095
"""The bytes of a name and of a path that Linux allows."""
_EXPECTED = "an image is a path, a URI (s3://, gs://), or the bytes of a file"
_NO_PATH = f"holds {{value}} in row {{row}}, which is no path: {_EXPECTED}. (Row 1 is the first row of data.)"


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
    """`string`: the paths, or `large_binary`: the encoded images. Empty ones are missing.

    Raises `BadValueError` for a text that can be no path.
    """
    if pa.types.is_dictionary(values.type):
        values = values.dictionary_decode()
    if are_missing(values):
        return Cleaned(pa.nulls(len(values), pa.string()))
    kind = values.type
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        found = values.cast(pa.large_binary())
    elif kind_of(kind) == "text":
        found = values.cast(pa.string())
        _check_paths(found, first_row)
    else:
        raise WrongTypeError(f"holds {kind_of(kind)}: {_EXPECTED}.")
    return Cleaned(pc.if_else(pc.equal(pc.binary_length(found), 0), pa.scalar(None, found.type), found))


def _check_paths(texts: pa.Array, first_row: int) -> None:
    """Raise `BadValueError` for the first text that can be no path: an image in base64, or too long a name."""
    is_no_path = pc.match_substring_regex(texts, _BASE64)
    if (pc.max(pc.binary_length(texts)).as_py() or 0) > _LONGEST_NAME:
        is_no_path = pc.or_(is_no_path, pa.array(map(_is_too_long, texts.to_pylist()), pa.bool_()))
    row = pc.index(is_no_path, True).as_py()
    if row >= 0:
        raise BadValueError(first_row + row, texts[row].as_py(), _NO_PATH)


def _is_too_long(text: str | None) -> bool:
    """True for a text that the file systems of this machine refuse as a path."""
    if text is None or text.startswith((S3, GCS)):
        return False
    return len(text.encode()) > _LONGEST_PATH or any(len(part.encode()) > _LONGEST_NAME for part in text.split("/"))


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
            content = content_of(feature, value)
            own = count(content)
        except FileNotFoundError:
            return None, NO_FILE
        except UnreadableImageError:
            return None, DAMAGED
        return content, None if own == channels else CONVERTED

    return check


def facts(statistics: Statistics) -> dict[str, str]:
    channels = "1 channel" if statistics["channels"] == 1 else f"{statistics['channels']} channels"
    size = f"{statistics['height']} × {statistics['width']} pixels, {channels}"
    return {"read as": size, "mean size of a file": f"{statistics['length'] / 1000:.3g} kB", **missing_fact(statistics)}


def distribution(statistics: Statistics) -> None:
    """None: images have no axis."""
