from __future__ import annotations

import pytest
import torch
from tests.laws.parity_job import Case, trained

from trainwright_trainer.runtime.products import compute_products_in


@pytest.mark.parametrize(("precision", "allowed"), [("tf32", True), ("float32", False), ("float64", False)])
def test_products_use_tf32_only_where_the_file_asks_for_it(precision: str, allowed: bool) -> None:
    compute_products_in(precision)
    assert (torch.backends.cuda.matmul.allow_tf32, torch.backends.cudnn.allow_tf32) == (allowed, allowed)
    compute_products_in("float32")


def test_on_a_cpu_tf32_is_float32() -> None:
    trainer = {"train_steps": 5, "effective_batch_size": 64}
    found = [trained(Case({**trainer, "precision": precision})) for precision in ("float32", "tf32")]
    assert found[0].losses == found[1].losses
    assert {one.dtype.name for one in found[1].weights.values()} >= {"float32"}
