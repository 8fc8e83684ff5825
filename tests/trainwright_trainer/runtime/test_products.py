from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.laws.parity_job import Case, trained

from trainwright_trainer.runtime.products import compute_products_in


@pytest.mark.parametrize(("precision", "word"), [("tf32", "tf32"), ("float32", "ieee"), ("float64", "ieee")])
def test_products_use_tf32_only_where_the_file_asks_for_it(precision: str, word: str) -> None:
    backends: Any = torch.backends
    compute_products_in(precision)
    kinds = (backends.cuda.matmul, backends.cudnn.conv, backends.cudnn.rnn)
    assert {operations.fp32_precision for operations in kinds} == {word}
    compute_products_in("float32")


def test_on_a_cpu_tf32_is_float32() -> None:
    found = [
        trained(Case({"train_steps": 5, "effective_batch_size": 64, "precision": precision}))
        for precision in ("float32", "tf32")
    ]
    assert found[0].losses == found[1].losses
    assert {one.dtype.name for one in found[1].weights.values()} >= {"float32"}
