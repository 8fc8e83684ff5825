from __future__ import annotations

from base64 import b64decode
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest
from PIL import Image

from trainwright_api.config import ModelConfig, resolve
from trainwright_trainer.analysis import thumbnails
from trainwright_trainer.analysis.thumbnails import Thumbnails, data_uri
from trainwright_trainer.data.preprocess import prepare


def _file(width: int, height: int, mode: str = "RGB", kind: str = "PNG") -> bytes:
    channels = len(Image.new(mode, (1, 1)).getbands())
    pixels = np.random.default_rng(width).integers(0, 255, (height, width, channels), np.uint8)
    file = BytesIO()
    Image.fromarray(pixels.squeeze(), mode).save(file, kind)
    return file.getvalue()


def _opened(picture: str) -> Image.Image:
    return Image.open(BytesIO(b64decode(picture.partition("base64,")[2])))


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA"])
def test_a_small_image_stays_as_it_is(mode: str) -> None:
    content = _file(8, 6, mode)
    shown, given = _opened(data_uri(content)), Image.open(BytesIO(content))
    assert (shown.format, shown.size) == ("PNG", (8, 6))
    assert np.array_equal(np.asarray(shown), np.asarray(given.convert(shown.mode)))


def test_a_large_image_keeps_its_ratio() -> None:
    shown = _opened(data_uri(_file(400, 200, kind="JPEG")))
    assert (shown.format, shown.size) == ("JPEG", (96, 48))


def test_the_pictures_of_rows_have_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [_file(20 + row, 20) for row in range(12)]
    pyarrow.parquet.write_table(pa.table({"file": rows, "y": list(range(12))}), tmp_path / "data.parquet")
    config = {
        "input_features": [{"name": "picture", "column": "file", "type": "image"}],
        "output_features": [{"name": "y", "type": "number"}],
    }
    resolved = resolve(ModelConfig.model_validate(config))
    data = prepare(resolved, str(tmp_path / "data.parquet"), seed=1, cache_dir=str(tmp_path / "cache"))
    found = Thumbnails(resolved, data)
    assert _opened(found.of_row(3)["file"]).size == (23, 20)
    samples = found.samples()["picture"]
    assert [_opened(one).size[0] - 20 for one in samples] == np.flatnonzero(data.splits == 0)[:8].tolist()
    monkeypatch.setattr(thumbnails, "MAX_CHARACTERS", 2 * len(samples[0]) + 10)
    few = Thumbnails(resolved, data).samples()["picture"]
    assert 0 < len(few) < len(samples)
    assert sum(map(len, few)) <= thumbnails.MAX_CHARACTERS
