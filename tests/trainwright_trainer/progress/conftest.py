from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trainwright_trainer.progress.events import Ended, Evaluated, Started, Stepped

ROWS = 235_712


class FakeClock:
    """A clock that a test turns by hand."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        return self.now


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


@pytest.fixture
def started() -> Callable[..., Started]:
    def build(**changes: Any) -> Started:
        plain: dict[str, Any] = {
            "name": "flights",
            "rows": 336_776,
            "split_rows": {"train": ROWS, "validation": 33_689, "test": 67_375},
            "inputs": 14,
            "outputs": {"late": "binary"},
            "cache_key": "9f3c12ab",
            "cache_hit": True,
            "batch_size": 1024,
            "optimizer": "adam",
            "learning_rate": 0.001,
            "epochs": 20,
            "steps_per_epoch": 231,
            "threads": 2,
            "validation_metric": "late.roc_auc",
            "attempt": 1,
        }
        return Started(**{**plain, **changes})

    return build


@pytest.fixture
def stepped() -> Callable[..., Stepped]:
    def build(epoch: int, epoch_rows: int) -> Stepped:
        return Stepped(epoch, epoch * 231 + epoch_rows // 1024, epoch_rows, ROWS, 0.001)

    return build


@pytest.fixture
def evaluated() -> Callable[..., Evaluated]:
    def build(epoch: int, loss: float, auc: float, *, best: bool = True, **changes: Any) -> Evaluated:
        scores = {
            "train": {"combined": {"loss": loss + 0.005}, "late": {"loss": loss + 0.005}},
            "validation": {"combined": {"loss": loss}, "late": {"loss": loss, "roc_auc": auc}},
        }
        plain: dict[str, Any] = {
            "epoch": epoch,
            "step": (epoch + 1) * 231,
            "seconds": 1.25 * (epoch + 1),
            "rows_per_second": 201_000.0,
            "learning_rate": 0.001,
            "scores": scores,
            "best": best,
        }
        return Evaluated(**{**plain, **changes})

    return build


@pytest.fixture
def ended() -> Ended:
    return Ended(
        31.2,
        13,
        14 * 231,
        {"late": {"roc_auc": 0.748}},
        "epochs",
        ("done in 31 s · best epoch 14 · test roc_auc 0.748",),
    )
