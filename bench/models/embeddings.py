"""Cached embeddings of a frozen encoder: an epoch beside one without the cache, and whole runs from an empty cache."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from statistics import median
from typing import Any

from bench.models import text
from bench.process import BUILD, measure, trainwright
from bench.results import Result, result

ROWS, ROUNDS, EPOCHS = 5_000, 3, (3, 10)
FOLDER = BUILD / "embeddings"


def bound(epochs: int, ratio: float) -> float:
    """The most that a whole run from an empty cache can win if an epoch with the encoder takes 1 + `ratio` times as
    long as one with its cached vectors."""
    return epochs * (1 + ratio) / (ratio + epochs)


def job(epochs: int, *, caches: bool) -> dict[str, Any]:
    made = text.job(dataset=str(FOLDER / "texts.parquet"), report={"maxSeconds": 0})
    (feature,) = made["config"]["input_features"]
    feature["encoder"]["trainable"] = False
    feature["preprocessing"]["cache_encoder_embeddings"] = caches
    made["config"]["trainer"] |= {"epochs": epochs, "early_stop": -1}
    return {**made, "backend": {"type": "local", "cache_dir": str(FOLDER / "cache")}}


def _run(epochs: int, *, caches: bool, cold: bool = True) -> tuple[float, float]:
    """The seconds of the whole process, and those of an epoch's steps."""
    if cold:
        shutil.rmtree(FOLDER / "cache", ignore_errors=True)
    file = FOLDER / "job.json"
    file.write_text(json.dumps(job(epochs, caches=caches)))
    process = measure(trainwright("train", str(file), "--output", str(FOLDER / "out"), "--overwrite"))
    rounds = json.loads((FOLDER / "out" / "metrics.json").read_text())["rounds"]
    return process.seconds, 0.7 * ROWS / median(one["rows_per_second"] for one in rounds)


def run() -> dict[str, Result]:
    text.data()
    text.write(Path(FOLDER / "texts.parquet"), ROWS)
    found: dict[str, Result] = {}
    epochs = []
    for count in EPOCHS:
        pairs = [(_run(count, caches=False), _run(count, caches=True)) for _ in range(ROUNDS)]
        warm = _run(count, caches=True, cold=False)
        whole = median(plain[0] / cached[0] for plain, cached in pairs)
        epochs += [plain[1] / cached[1] for plain, cached in pairs]
        found |= {
            f"embedding cache, {count} epochs: whole run without the cache": result(whole, "× that with an empty one"),
            f"embedding cache, {count} epochs: whole, no cache": result(median(one[0] for one, _ in pairs), "s"),
            f"embedding cache, {count} epochs: whole, empty cache": result(median(one[0] for _, one in pairs), "s"),
            f"embedding cache, {count} epochs: whole, warm cache": result(warm[0], "s"),
        }
    an_epoch = median(epochs)
    bounds = {f"embedding cache, {count} epochs: bound": bound(count, an_epoch - 1) for count in EPOCHS}
    return {
        "embedding cache: an epoch without the cache": result(an_epoch, "× a warm one"),
        **found,
        **{name: result(value, "×") for name, value in bounds.items()},
    }
