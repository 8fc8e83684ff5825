"""The image feature: paths and bytes, the size of a sample, damaged files, and the decoding of odd files."""

from __future__ import annotations

from base64 import b64encode
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import torch
from PIL import Image

from trainwright_api.config.inputs_media import ImageInput
from trainwright_api.problems import Mistakes
from trainwright_trainer.features import image, pillow, pixels
from trainwright_trainer.features.channels import with_channels
from trainwright_trainer.features.column import Feature
from trainwright_trainer.features.errors import BadValueError, WrongTypeError
from trainwright_trainer.features.image_files import ImageFiles
from trainwright_trainer.features.pixels import ImageShape, UnreadableImageError, decoded, shaped
from trainwright_trainer.storage.local import FolderStorage


def picture(height: int, width: int, mode: str = "RGB", ending: str = "png", **options: Any) -> bytes:
    pixels = np.random.default_rng(height).integers(0, 256, (height, width, len(mode)), dtype=np.uint8)
    file = BytesIO()
    Image.fromarray(pixels.squeeze()).save(file, ending, **options)
    return file.getvalue()


def feature(home: Path | None = None, **preprocessing: Any) -> Feature:
    section = ImageInput.model_validate({"name": "x", "preprocessing": preprocessing}).preprocessing
    files = None if home is None else ImageFiles(FolderStorage(home), None, "config.input_features[0]")
    return Feature("x", "x", "image", False, section, "config.input_features[0]", files)


def statistics(values: list[Any], **preprocessing: Any) -> dict[str, Any]:
    one = feature(**preprocessing)
    image.refuse(one)
    blocks = [pa.array(values[:2], pa.binary()), pa.array(values[2:], pa.binary())]
    states = [image.observe(one, image.clean(one, block, 0).values, {}) for block in blocks]
    return image.conclude(one, [image.merge(one, states)], {})


@pytest.mark.parametrize(
    ("preprocessing", "size"),
    [
        ({}, (20, 30)),
        ({"infer_image_max_height": 16}, (16, 30)),
        ({"infer_image_max_width": 8, "requires_equal_dimensions": True}, (8, 8)),
        ({"height": 5, "width": 7}, (5, 7)),
        ({"infer_image_sample_size": 1}, (10, 20)),
    ],
)
def test_the_size_is_given_or_the_mean_of_the_sample(preprocessing: dict[str, Any], size: tuple[int, int]) -> None:
    found = statistics([picture(10, 20), picture(20, 30), picture(30, 40), None], **preprocessing)
    assert (found["height"], found["width"]) == size
    assert (found["rows"], found["missing"]) == (4, 1)


def test_without_inference_all_images_need_one_size() -> None:
    assert statistics([picture(10, 20)] * 3, infer_image_dimensions=False)["width"] == 20
    with pytest.raises(Mistakes, match="null: the images differ in size, and infer_image_dimensions is false"):
        statistics([picture(10, 20), picture(10, 21)], infer_image_dimensions=False)


@pytest.mark.parametrize(
    ("modes", "preprocessing", "channels"),
    [
        (["L", "L", "RGB"], {}, 1),
        (["L", "RGB"], {}, 3),
        (["RGBA"], {}, 4),
        (["L", "L", "RGB"], {"num_channels": 3}, 3),
        (["L", "L"], {"standardize_image": "imagenet1k"}, 3),
        (["L", "RGB", "RGB"], {"infer_image_num_channels": False}, 1),
    ],
)
def test_the_channels_are_given_or_those_of_most(
    modes: list[str], preprocessing: dict[str, Any], channels: int
) -> None:
    assert statistics([picture(9, 9, mode) for mode in modes], **preprocessing)["channels"] == channels


def test_missing_and_damaged_images_are_filled_or_dropped() -> None:
    whole = picture(40, 40, ending="jpeg")
    damaged = [whole[:200], b"no image", picture(9, 9)[:20]]
    values = pa.array([None, b"", whole, *damaged, picture(9, 9, "L")], pa.large_binary())
    for strategy, nulls in (("drop_row", 5), ("bfill", 5), ("fill_with_const", 0)):
        one = feature(missing_value_strategy=strategy)
        found = image.encode(one, image.clean(one, values, 0).values, {"channels": 3}, 0)
        assert found.values.null_count == nulls
        assert found.values[2].as_py() == whole
        assert found.unknown == 3
        assert found.noted == {image.DAMAGED: 3, image.CONVERTED: 1}
        assert (found.backward is not None) == (strategy == "bfill")
    assert found.values[0].as_py() == b""


def test_missing_images_are_filled_with_the_most_frequent_one(tmp_path: Path) -> None:
    common, rare = picture(8, 8), picture(9, 9)
    columns = {"bytes": [rare, common, None, b"no image", common], "paths": ["b.png", "a.png", None, "x.png", "a.png"]}
    (tmp_path / "a.png").write_bytes(common)
    (tmp_path / "b.png").write_bytes(rare)
    one = feature(tmp_path, missing_value_strategy="fill_with_mode")
    for column in columns.values():
        blocks = [image.clean(one, pa.array(part), 0).values for part in (column[:2], column[2:])]
        found: dict[str, Any] = {}
        for _ in range(image.rounds(one).total):
            found = image.conclude(one, [image.observe(one, block, found) for block in blocks], found)
        encoded = image.encode(one, image.clean(one, pa.array(column), 0).values, found, 0)
        assert encoded.values.to_pylist() == [rare, common, common, common, common]


def test_a_most_frequent_image_that_cannot_be_read_is_refused() -> None:
    one = feature(missing_value_strategy="fill_with_mode")
    block = image.clean(one, pa.array([picture(8, 8), b"no image", b"no image"]), 0).values
    first = image.conclude(one, [image.observe(one, block, {})], {})
    with pytest.raises(WrongTypeError, match="has a most frequent image that cannot be read, so fill_with_mode has"):
        image.conclude(one, [image.observe(one, block, first)], first)


def test_the_most_frequent_path_without_an_image_fills_nothing(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(picture(8, 8))
    one = feature(tmp_path, missing_value_strategy="fill_with_mode")
    block = image.clean(one, pa.array(["x.png", "x.png", "a.png", None]), 0).values
    first = image.conclude(one, [image.observe(one, block, {})], {})
    found = image.conclude(one, [image.observe(one, block, first)], first)
    assert image.encode(one, block, found, 0).values.to_pylist() == [picture(8, 8)] * 4


def test_paths_are_relative_to_the_folder_absolute_or_missing(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(picture(4, 4))
    one = feature(tmp_path, missing_value_strategy="drop_row", num_processes=2)
    paths = pa.array(["a.png", str(tmp_path / "a.png"), "b.png", str(tmp_path), "a.png/b", None])
    found = image.encode(one, image.clean(one, paths, 0).values, {"channels": 3}, 0)
    assert found.values.is_valid().to_pylist() == [True, True, *4 * [False]]
    assert found.noted == {image.NO_FILE: 3}


def test_a_digest_changes_with_a_file(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"1")
    files = ImageFiles(FolderStorage(tmp_path), None, "x")
    names = ["a.png", str(tmp_path / "a.png"), "b.png", "a.png/b", 300 * "b"]
    before = files.digest_of(names)
    assert files.digest_of(names) == before
    (tmp_path / "a.png").write_bytes(b"12")
    assert files.digest_of(names) != before


def test_other_columns_are_refused() -> None:
    with pytest.raises(WrongTypeError, match="holds numbers: an image is a path, a URI"):
        image.clean(feature(), pa.array([1.5]), 0)
    with pytest.raises(WrongTypeError, match="has no image in its first 1 training rows: 'the first one' cannot be"):
        statistics([b"no image"])


@pytest.mark.parametrize(
    "text",
    [
        b64encode(picture(8, 8)).decode(),
        b64encode(picture(8, 8, ending="jpeg")).decode(),
        "data:image/png;base64,iVBO",
        "pictures/" + 256 * "a",
        "é" * 200,
        "a/" * 2048,
    ],
)
@pytest.mark.parametrize("coded", [True, False])
def test_texts_that_are_no_paths_are_refused(text: str, coded: bool) -> None:
    values = pa.array(["a.png", None, text, text])
    with pytest.raises(BadValueError, match="which is no path: an image is a path, a URI") as caught:
        image.clean(feature(), values.dictionary_encode() if coded else values, 10)
    assert (caught.value.row, caught.value.value) == (12, text)


def test_names_that_paths_can_have_are_read(tmp_path: Path) -> None:
    names = ["a/" * 2000 + "b.png", 255 * "a", "s3://b/" + 300 * "a", "~nobody/x.png", "/9j/x.png"]
    one = feature(tmp_path)
    assert image.clean(one, pa.array(names), 0).values.to_pylist() == names
    assert one.files is not None
    with pytest.raises(FileNotFoundError):
        one.files.read("~nobody/x.png")


def test_facts_say_how_images_are_read() -> None:
    facts = image.facts(statistics([picture(10, 20), None]))
    assert facts["read as"] == "10 × 20 pixels, 3 channels"
    assert facts["missing"] == "50 %"


def test_odd_files_are_decoded() -> None:
    turned = Image.Exif()
    turned[0x0112] = 6  # turned by a quarter
    assert decoded(picture(10, 20, ending="jpeg", exif=turned), 3).shape == (3, 20, 10)
    deep = BytesIO()
    Image.fromarray(np.full((4, 5), 0x8040, np.uint16)).save(deep, "png")
    assert decoded(deep.getvalue(), 1).unique().tolist() == [0x80]
    frames = [Image.fromarray(np.full((6, 6, 3), value, np.uint8)) for value in (10, 200)]
    moving = BytesIO()
    frames[0].save(moving, "gif", save_all=True, append_images=frames[1:])
    assert decoded(moving.getvalue(), 3).shape == (3, 6, 6)
    with pytest.raises(UnreadableImageError):
        decoded(b"", 3)


def test_images_are_resized_cropped_padded_or_filled() -> None:
    content = picture(10, 20)
    whole = decoded(content, 3)
    assert shaped(content, ImageShape(3, 5, 8, "interpolate")).shape == (3, 5, 8)
    cropped = shaped(content, ImageShape(3, 4, 10, "crop_or_pad"))
    assert torch.equal(cropped, whole[:, 3:7, 5:15])
    padded = shaped(content, ImageShape(3, 12, 22, "crop_or_pad"))
    assert torch.equal(padded[:, 1:11, 1:21], whole)
    assert not padded[:, 0].any()
    assert shaped(b"", ImageShape(1, 2, 2, "interpolate", 9)).unique().tolist() == [9]


@pytest.mark.parametrize(
    ("preprocessing", "line"),
    [
        ({"fill_value": 300.0}, "fill_value: 300: a pixel has values from 0 to 255"),
        ({"standardize_image": "imagenet1k", "num_channels": 1}, "its statistics are those of 3 channels"),
        ({"in_memory": False}, "in_memory: not built yet"),
    ],
)
def test_options_that_do_not_fit_are_refused(preprocessing: dict[str, Any], line: str) -> None:
    with pytest.raises(Mistakes, match=line):
        image.refuse(feature(**preprocessing))


def files_of_every_form() -> dict[str, bytes]:
    """Files of each format with each kind of pixels, by name."""
    draws = np.random.default_rng(3)

    def pixels(mode: str) -> Image.Image:
        plain = {"CMYK": 4, "P": 3}.get(mode, len(mode))
        made = Image.fromarray(draws.integers(0, 256, (30, 40, plain), dtype=np.uint8).squeeze())
        return made.quantize(64) if mode == "P" else made.convert(mode) if mode == "1" else made

    def saved(image: Image.Image, ending: str, **options: Any) -> bytes:
        file = BytesIO()
        image.save(file, ending, **options)
        return file.getvalue()

    turned = Image.Exif()
    turned[0x0112] = 6
    cmyk = Image.frombytes("CMYK", (40, 30), draws.bytes(4800))
    deep = Image.fromarray(draws.integers(0, 65_536, (30, 40)).astype(np.uint16))
    return {
        **{f"jpeg {mode}": saved(pixels(mode), "jpeg", quality=90, exif=turned) for mode in ("L", "RGB")},
        **{f"png {mode}": saved(pixels(mode), "png") for mode in ("1", "L", "LA", "P", "RGB", "RGBA")},
        **{f"gif {mode}": saved(pixels(mode), "gif") for mode in ("L", "P")},
        **{f"webp {mode}": saved(pixels(mode), "webp", quality=80) for mode in ("RGB", "RGBA")},
        "jpeg CMYK": saved(cmyk, "jpeg"),
        "png I;16": saved(deep, "png"),
        "png turned": saved(pixels("RGB"), "png", exif=turned),
        "png with a clear colour": saved(pixels("P"), "png", transparency=3),
        "gif with a clear colour": saved(pixels("P"), "gif", transparency=3),
    }


@pytest.mark.parametrize("name", files_of_every_form())
def test_pillow_reads_the_same_pixels_with_any_channels(name: str) -> None:
    content = files_of_every_form()[name]
    own = pillow.channels_of(content)
    assert own == pixels.channels_of(content)
    assert (own == 1) == (name.rpartition(" ")[2] in ("1", "L", "I;16") and not name.startswith("gif"))
    height, width = decoded(content).shape[1:]
    for channels in (1, 2, 3, 4):
        for size in ((height, width), (17, 60), (61, 9)):
            shape = ImageShape(channels, *size, "interpolate")
            np.testing.assert_array_equal(pillow.shaped(content, shape), shaped(content, shape).numpy())


def test_pillow_crops_pads_and_fills_as_torchvision() -> None:
    for height, width in ((4, 10), (12, 22), (11, 7), (3, 3)):
        shape = ImageShape(3, height, width, "crop_or_pad")
        content = picture(10, 21)
        np.testing.assert_array_equal(pillow.shaped(content, shape), shaped(content, shape).numpy())
    np.testing.assert_array_equal(pillow.shaped(b"", ImageShape(1, 2, 2, "interpolate", 9)), np.full((1, 2, 2), 9))
    for damaged in (b"", b"no image", picture(40, 40, ending="jpeg")[:200], picture(9, 9)[:20]):
        with pytest.raises(UnreadableImageError):
            pillow.channels_of(damaged)


def test_gray_is_that_of_the_eye_and_alpha_is_opaque() -> None:
    colours = np.array([[255, 0], [255, 0], [255, 255]], np.uint8).reshape(3, 1, 2)
    assert with_channels(colours, 1).tolist() == [[[255, 29]]]
    assert with_channels(colours, 4)[3].tolist() == [[255, 255]]
    assert with_channels(with_channels(colours, 4), 3).tolist() == colours.tolist()
    assert with_channels(colours[:1], 2).tolist() == [[[255, 0]], [[255, 255]]]


def test_a_block_of_nan_is_missing() -> None:
    assert image.clean(feature(), pa.array([float("nan")] * 2), 0).values.null_count == 2
