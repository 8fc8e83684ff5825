from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from trainwright_trainer.callbacks.events import Ended, Evaluated, RankRound, Started, Stepped

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
def ranks() -> tuple[RankRound, ...]:
    """Three of them on GPUs; the second waits for its loader."""
    return (
        RankRound(0, "flights-w-a", 0.05, 0.02, 0.001, 812_000_000, 1_400_000_000, 0.41),
        RankRound(1, "flights-w-b", 0.05, 0.048, 0.03, 812_000_000, 1_400_000_000, 0.4),
        RankRound(2, "flights-w-c", 0.05, 0.022, 0.001, 813_000_000, 1_500_000_000, None),
    )


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
