from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
import torch
from PIL import Image

from trainwright_api.config import ModelConfig, resolve
from trainwright_trainer.analysis.subject import COST, LEAST_ROWS, PIXELS, Subject
from trainwright_trainer.data.prepared import TEST, VALIDATION
from trainwright_trainer.data.preprocess import prepare


def test_a_sample_has_rows_of_its_part_alone_each_once(subject: Subject) -> None:
    batch = subject.sample(VALIDATION, 100)
    assert batch is not None
    assert len(set(batch.rows.tolist())) == 100
    assert (subject.data.splits[batch.rows] == VALIDATION).all()
    assert batch.rows.tolist() != sorted(batch.rows.tolist())


def test_a_sample_follows_from_the_seed(subject: Subject) -> None:
    one, again, other = (
        each.sample(TEST, 50) for each in (subject, replace(subject, pass_rows=7), replace(subject, seed=43))
    )
    assert one is not None
    assert again is not None
    assert other is not None
    assert one.rows.tolist() == again.rows.tolist() != other.rows.tolist()


def test_the_rows_of_a_sample_are_those_of_the_data(subject: Subject) -> None:
    sample = subject.sample(TEST, 30)
    assert sample is not None
    order = np.argsort(sample.rows)
    straight = subject.batch(np.sort(sample.rows))
    assert torch.equal(sample.floats[torch.from_numpy(order)], straight.floats)
    assert torch.equal(sample.ints[torch.from_numpy(order)], straight.ints)
    assert sample.ragged[0].take(order).values.tolist() == straight.ragged[0].values.tolist()


def test_a_part_without_rows_has_no_sample(subject: Subject) -> None:
    data = replace(subject.data, splits=np.full(subject.data.rows, TEST, np.uint8))
    assert replace(subject, data=data).sample(VALIDATION, 10) is None


def test_a_large_model_gets_fewer_rows(subject: Subject) -> None:
    assert subject.affordable(2000) == 2000
    large = torch.nn.Linear(1, COST // 500 // 2)
    assert replace(subject, model=large).affordable(2000) == 500
    assert replace(subject, model=torch.nn.Linear(1, COST // 100)).affordable(2000) == LEAST_ROWS


def test_a_sample_with_images_has_fewer_rows(tmp_path: Path) -> None:
    file = BytesIO()
    Image.new("RGB", (200, 160)).save(file, "PNG")
    pyarrow.parquet.write_table(pa.table({"image": [file.getvalue()] * 20, "y": range(20)}), tmp_path / "data.parquet")
    inputs = [{"name": "image", "type": "image"}]
    config = resolve(
        ModelConfig.model_validate({"input_features": inputs, "output_features": [{"name": "y", "type": "number"}]})
    )
    data = prepare(config, str(tmp_path / "data.parquet"), seed=1, cache_dir=str(tmp_path / "cache"))
    subject = Subject(torch.nn.Linear(1, 1), config, data, seed=1, pass_rows=8)
    assert subject.affordable(10_000) == PIXELS // (3 * 200 * 160)
