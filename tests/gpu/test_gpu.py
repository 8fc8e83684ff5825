"""Training and trained models on this machine's GPU. `make test-gpu` runs these tests; elsewhere they are skipped."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow.parquet as pq
import pytest
import torch
from tests.laws.parity_job import Case, Seen, trained
from tests.ranks import on_ranks

from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.loop.staging import Staging
from trainwright_trainer.loop.step_agreement import StepLoss
from trainwright_trainer.loop.train_step import TrainStep
from trainwright_trainer.metrics import base
from trainwright_trainer.rundir.blocks import whole
from trainwright_trainer.runtime.products import compute_products_in

pytestmark = pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU")

STEPS = {
    "effective_batch_size": 64,
    "batch_size": 64,
    "train_steps": 20,
    "steps_per_checkpoint": 5,
    "early_stop": -1,
    "precision": "float32",
    # A bias before a batch norm has a gradient of rounding errors alone. A small eps makes steps of full length of it.
    "optimizer": {"type": "adam", "eps": 1e-3},
}
STRATEGIES: dict[str, dict[str, Any]] = {
    "ddp": {"type": "ddp"},
    "fsdp": {"type": "fsdp"},
    "fsdp, offload": {"type": "fsdp", "offload_policy": True},
    "horovod": {"type": "horovod"},
    "ZeRO 1": {"type": "deepspeed", "zero_optimization": {"stage": 1}},
    "ZeRO 3": {"type": "deepspeed", "zero_optimization": {"stage": 3}},
    "ZeRO 3, offload": {
        "type": "deepspeed",
        "zero_optimization": {"stage": 3, "offload_optimizer": {"device": "cpu"}, "offload_param": {"device": "cpu"}},
    },
}
# Relative tolerances of the loss after 20 steps: of float32 summed in another order, and of half precision.
FULL, HALF = 1e-4, 3e-2


# The ways of the rows to the GPU.
ROWS: dict[str, dict[str, Any]] = {
    "rows in memory": {},
    "windows": {"window_rows": 50},
    "images": {"picture": {"encoder": {"type": "stacked_cnn"}}},
}


def case(**trainer: Any) -> Case:
    return Case({**STEPS, **trainer}, {"norm": "batch"}, device="cuda:0")


def assert_close(found: Seen, expected: Seen, tolerance: float) -> None:
    assert found.losses == pytest.approx(expected.losses, rel=tolerance, abs=tolerance)
    assert found.scores == pytest.approx(expected.scores, rel=10 * tolerance, abs=10 * tolerance)


def on_the_cpu(**trainer: Any) -> Seen:
    return trained(replace(case(**trainer), device="cpu"))


@pytest.mark.parametrize("rows", ROWS)
def test_one_process_has_the_curve_of_the_cpu(rows: str) -> None:
    given = replace(case(), **ROWS[rows])
    assert_close(trained(given), trained(replace(given, device="cpu")), FULL)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_has_the_curve_of_the_cpu(strategy: str) -> None:
    section = Strategy.model_validate(STRATEGIES[strategy])
    [seen] = on_ranks(1, trained, replace(case(), engine=section, uses_strategy_alone=True))
    assert_close(seen, on_the_cpu(), FULL)


@pytest.mark.skipif(torch.cuda.device_count() < 2, reason="NCCL needs a GPU for each rank")
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_two_gpus_have_the_curve_of_the_cpu(strategy: str) -> None:
    section = Strategy.model_validate(STRATEGIES[strategy])
    for seen in on_ranks(2, on_its_gpu, replace(case(), engine=section)):
        assert_close(seen, on_the_cpu(), FULL)


@pytest.mark.parametrize("strategy", ["ddp", "horovod"])
def test_two_ranks_of_one_gpu_have_the_curve_of_the_cpu(strategy: str) -> None:
    """NCCL refuses two ranks on one GPU, so gloo sums their gradients. It cannot gather what batch norm needs."""
    section = Strategy.model_validate(STRATEGIES[strategy])
    given = replace(case(), combiner={"norm": "layer"}, engine=section)
    for seen in on_ranks(2, trained, given, cuda="gloo"):
        assert_close(seen, trained(replace(given, device="cpu")), FULL)


def on_its_gpu(given: Case) -> Seen:
    rank = torch.distributed.get_rank()
    torch.cuda.set_device(rank)
    return trained(replace(given, device=f"cuda:{rank}"))


def test_compiled() -> None:
    assert_close(trained(case(compile=True)), on_the_cpu(), FULL)


def test_bfloat16() -> None:
    assert_close(trained(case(use_mixed_precision=True)), on_the_cpu(), HALF)


def test_float16_with_scaled_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda **_: False)
    # The default scale is too large for the first steps, and the scaler skips a step whose gradients overflow.
    monkeypatch.setattr(torch.amp, "GradScaler", partial(torch.amp.GradScaler, init_scale=2.0**10))
    seen = trained(case(use_mixed_precision=True))
    assert seen.saved[-1].state["scaler"]["scale"] > 1
    assert_close(seen, on_the_cpu(), HALF)


# Relative errors of products: of float32, and of TF32, whose factors have 11 bits.
PRODUCTS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "matrices": lambda one, other: one.flatten(1) @ other.flatten(1).T,
    "convolution": torch.nn.functional.conv2d,
}


@pytest.mark.parametrize(("precision", "smallest", "largest"), [("float32", 0, 1e-5), ("tf32", 5e-5, 3e-3)])
@pytest.mark.parametrize("product", PRODUCTS)
def test_products_have_the_precision_of_the_file(product: str, precision: str, smallest: float, largest: float) -> None:
    compute_products_in(precision)
    draws = torch.Generator().manual_seed(0)
    one, other = (torch.randn(256, 64, 4, 4, generator=draws, dtype=torch.float64) for _ in range(2))
    exact, found = PRODUCTS[product](one, other), PRODUCTS[product](one.float().cuda(), other.float().cuda())
    compute_products_in("float32")
    assert smallest <= (found.cpu() - exact).norm() / exact.norm() <= largest


def test_tf32_has_the_curve_of_the_cpu_within_its_tolerance() -> None:
    compute_products_in("tf32")
    seen = trained(case(precision="tf32"))
    compute_products_in("float32")
    assert_close(seen, on_the_cpu(), HALF)


def test_a_resumed_run_ends_with_the_same_weights() -> None:
    straight = trained(case())
    resumed = trained(case(), straight.saved[1:2])
    assert resumed.losses == pytest.approx(straight.losses[-len(resumed.losses) :], rel=1e-6)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_resumed_run_of_every_strategy_ends_with_the_same_weights(strategy: str) -> None:
    section = Strategy.model_validate(STRATEGIES[strategy])
    given = replace(case(), engine=section, uses_strategy_alone=True)
    [straight] = on_ranks(1, trained, given)
    [resumed] = on_ranks(1, trained, given, straight.saved[1:2])
    assert resumed.losses == pytest.approx(straight.losses[-len(resumed.losses) :], rel=1e-5)


@pytest.mark.filterwarnings("ignore:Synchronization debug mode is a prototype feature")
def test_no_step_waits_for_the_gpu(workplace: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(base, "FOLDED_TOGETHER", 64)  # the metrics are folded in each step
    steps, whole = [], TrainStep.__call__

    def watched(*given: Any) -> StepLoss:
        steps.append(1)
        torch.cuda.set_sync_debug_mode("error" if len(steps) > 3 else "default")
        try:
            return whole(*given)
        finally:
            torch.cuda.set_sync_debug_mode("default")

    monkeypatch.setattr(TrainStep, "__call__", watched)
    job = workplace.job(lambda spec: spec["config"]["trainer"].update(epochs=5))
    workplace.done("train", job, "--output", "out")
    assert len(steps) > 20


def test_checkpoints_are_copied_to_pinned_memory() -> None:
    device = torch.device("cuda:0")
    found = Staging(device).copied(whole({"a": torch.arange(5, device=device)}))["a"].data
    assert found.is_pinned()
    assert found.tolist() == [0, 1, 2, 3, 4]


def test_a_saved_model_predicts_and_scores_as_on_the_cpu(workplace: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    workplace.done("train", workplace.job(), "--output", "out")
    found = []
    for has_gpu in (True, False):
        with monkeypatch.context() as fake:
            fake.setattr(torch.cuda, "is_available", lambda has_gpu=has_gpu: has_gpu)
            workplace.done("predict", "job.yaml", "--model", "out", "--output", "p.parquet")
            workplace.done("evaluate", "job.yaml", "--model", "out", "--output", "evaluated")
        scores = json.loads((workplace.folder / "evaluated/evaluation.json").read_text())["scores"]["late"]
        found.append((pq.read_table("p.parquet")["late_probability"].to_pylist(), scores))
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-5)
    assert found[0][1] == pytest.approx(found[1][1], abs=1e-4)
