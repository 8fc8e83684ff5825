"""The device of a saved model. `meta` stands for a GPU: it has shapes and no values."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from trainwright_trainer.data.datasets import DataFiles
from trainwright_trainer.data.files import find
from trainwright_trainer.job.job import read_job
from trainwright_trainer.job.options import Options
from trainwright_trainer.tasks.blocks import BlocksHere
from trainwright_trainer.tasks.saved_model import load_model, valid_rows


@pytest.fixture
def trained(workplace):
    workplace.done("train", workplace.job(), "--output", "out")
    return workplace


def test_a_model_and_its_batches_are_on_one_device(trained, monkeypatch):
    monkeypatch.setattr("trainwright_trainer.loader.batch.copied", torch.Tensor.to)
    saved = load_model(trained.folder / "out", device="meta")
    (block,) = saved.rows_of(DataFiles(find("data.csv")), targets=True).blocks()
    (batch,) = valid_rows(saved, block.data).sequential(1000)
    assert {tensor.device.type for tensor in (batch.floats, batch.ints, *saved.model.parameters())} == {"meta"}
    assert saved.model(batch)["late"].shape == (200,)


@pytest.mark.parametrize(
    ("has_gpu", "section", "device"),
    [(True, {}, "cuda"), (False, {}, "cpu"), (True, {"type": "horovod", "trainer": {"use_gpu": False}}, "cpu")],
)
def test_a_gpu_is_used_where_there_is_one(trained, monkeypatch, has_gpu, section, device):
    monkeypatch.setattr(torch.cuda, "is_available", lambda: has_gpu)
    trained.job(lambda job: job.update(backend=section))
    job = read_job("predict", Path("job.yaml"), Options(model="out"))
    assert BlocksHere.of(job).device == device
