"""The law of cached embeddings: a run with them is a run without them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file

from trainwright_trainer import train
from trainwright_trainer.tasks.result import Result


def trained_alike(
    plain: Mapping[str, Any], cached: Mapping[str, Any], folder: Path, frozen: str = "encoders."
) -> Result:
    """Train both jobs, check that losses and saved models agree, and return the result of the cached one.

    `frozen`: the beginning of the names of weights that are equal to the bit.
    """
    one, two = (train(job, output=folder / name, quiet=True) for name, job in (("plain", plain), ("cached", cached)))
    assert len(one.history) == len(two.history) == 3
    for before, after in zip(one.history, two.history, strict=True):
        for split in ("train", "validation"):
            assert after.scores[split]["late"] == pytest.approx(before.scores[split]["late"], abs=1e-6)
    expected, found = (load_file(folder / name / "model" / "weights.safetensors") for name in ("plain", "cached"))
    assert set(found) == set(expected)
    for name, tensor in found.items():
        if name.startswith(frozen):
            assert torch.equal(tensor, expected[name]), name
        else:
            torch.testing.assert_close(tensor, expected[name], atol=1e-5, rtol=1e-4)
    statistics = [(folder / name / "model" / "statistics.json").read_text() for name in ("plain", "cached")]
    assert statistics[0] == statistics[1]
    return two
