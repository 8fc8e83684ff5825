"""A model that fits on no GPU: rank 0 saves it from its own memory, and its shards compute the test scores."""

from __future__ import annotations

import math
from collections.abc import Mapping
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
import torch
from safetensors.torch import load_file
from tests.customers import customers
from tests.ranks import on_launched, on_ranks
from tests.trainwright_trainer.strategies.weighted import Weighted

from trainwright_trainer import train
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.rundir.blocks import Block
from trainwright_trainer.strategies import consolidate as module
from trainwright_trainer.strategies.consolidate import consolidate
from trainwright_trainer.tasks.train import TOO_LARGE


def consolidated(free: list[float]) -> tuple[bool, bool, list[float]]:
    """Each rank has one of the two weights. `free`: the bytes of each device. The last: the weights that a rank has."""
    ranks = ProcessGroup()
    model: Any = Weighted().to("meta")
    block = Block(torch.tensor([3.0 + ranks.rank], dtype=torch.float64), (2,), ranks.rank)
    with patch.object(module, "free_bytes", lambda _: free[ranks.rank]):
        fits = consolidate(model, {"weight": block}, ranks, torch.float32)
    return fits, model.weight.is_meta, [] if model.weight.is_meta else model.weight.tolist()


def test_a_model_that_fits_is_on_each_rank() -> None:
    assert on_ranks(2, consolidated, [10.0, math.inf]) == [(True, False, [3.0, 4.0])] * 2


def test_a_model_that_does_not_fit_on_one_device_is_on_rank_0_alone() -> None:
    expected = [(False, False, [3.0, 4.0]), (False, True, [])]
    assert on_ranks(2, consolidated, [math.inf, 9.9]) == expected


def test_the_memory_that_torch_holds_and_does_not_use_is_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "memory_reserved", lambda _: 70)
    monkeypatch.setattr(torch.cuda, "memory_allocated", lambda _: 50)
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (10, 100))
    assert module.free_bytes(torch.device("cuda", 0)) == 30


def job(strategy: Mapping[str, Any], data: Path) -> dict[str, Any]:
    inputs = [{"name": "age", "type": "number"}, {"name": "plan", "type": "category"}]
    outputs = [{"name": "left", "type": "category", "calibration": True}]
    trainer = {"epochs": 2, "batch_size": 32, "precision": "float32"}
    config = {"input_features": inputs, "output_features": outputs, "trainer": trainer}
    return {"dataset": str(data), "config": config, "backend": {"type": "ray", "trainer": {"strategy": strategy}}}


def trained(spec: Mapping[str, Any], output: Path, free: float) -> tuple[Mapping[str, float], str]:
    """The test scores, and what this rank has printed."""
    with patch.object(module, "free_bytes", lambda _: free), redirect_stdout(StringIO()) as printed:
        result = train(spec, output=output)
    return result.test["left"], printed.getvalue()


@pytest.mark.parametrize(
    "strategy",
    [{"type": "fsdp"}, {"type": "deepspeed", "zero_optimization": {"stage": 3}}],
    ids=["fsdp", "deepspeed"],
)
def test_a_run_ends_with_the_same_model_and_scores(strategy: Mapping[str, Any], tmp_path: Path) -> None:
    data = tmp_path / "customers.csv"
    customers(400).to_csv(data, index=False)
    (fitting, log), (large, log_of_large) = (
        on_launched(2, trained, job(strategy, data), tmp_path / name, free)[0]
        for name, free in (("fitting", math.inf), ("large", 0.0))
    )
    assert large == fitting
    first, second = (load_file(tmp_path / name / "model" / "weights.safetensors") for name in ("fitting", "large"))
    assert first["decoders.left.temperature"] != 1
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert (TOO_LARGE in log, TOO_LARGE in log_of_large) == (False, True)
    assert importance(tmp_path / "large") == importance(tmp_path / "fitting")


def importance(output: Path) -> str:
    """The beginning of an analysis that needs the whole model."""
    page = (output / "report.html").read_text()
    return page[page.index("mportance of the inputs") :][:2000]
