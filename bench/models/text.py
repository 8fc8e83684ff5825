"""Texts: a whole process beside a bare loop of the transformers library, and what length buckets save."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import torch

from bench.models.families import LABELS, SIZES, STEPS, TEXT, TOKENS, config
from bench.models.sides import ratio, train
from bench.models.text_baseline import CLIP, LENGTH, RATE
from bench.process import BUILD, ROOT, Measured, measure, python, trainwright
from bench.results import Result, result
from trainwright_trainer.loader.encoded_rows import EncodedRows
from trainwright_trainer.loader.epoch_order import EpochOrder
from trainwright_trainer.loader.materialised import Materialised

ROWS, ROUNDS, BUCKET_ROUNDS, EPOCHS = 50_000, 3, 3, 3
FOLDER = BUILD / "texts"
BASELINE = ROOT / "bench" / "models" / "text_baseline.py"


def lengths(rows: int, longest: int = LENGTH) -> Any:
    """Words of each text: most texts are short, a few are long."""
    drawn = np.random.default_rng(0).lognormal(np.log(longest / 4), 0.7, rows)
    return np.clip(drawn, 1, longest - 2).astype(int)


def write(path: Path, rows: int) -> list[str]:
    """Texts of frequent and rare words, and which of four words is in them. Returns the texts."""
    draws = np.random.default_rng(1)
    syllables = np.array([a + b for a in "bdfgklmnprstvz" for b in "aeiou"])
    words = np.unique(["".join(draws.choice(syllables, draws.integers(1, 4))) for _ in range(3_000)])
    chances = 1 / np.arange(1, len(words) + 1)
    counts = lengths(rows)
    drawn = draws.choice(words, counts.sum(), p=chances / chances.sum())
    classes = draws.integers(0, 4, rows)
    drawn[np.cumsum(counts) - counts] = np.array(["north", "south", "east", "west"])[classes]
    texts = [" ".join(part) for part in np.split(drawn, np.cumsum(counts)[:-1])]
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"text": texts, "label": [f"class {each}" for each in classes]}), path)
    return texts


def data() -> Path:
    """The data and the model, created if missing."""
    path, model = FOLDER / "texts.parquet", FOLDER / "model"
    if not (model / "config.json").exists():
        from testkit.tiny_models import tokenizer_of

        library: Any = import_module("transformers")
        tokenizer = tokenizer_of(write(path, ROWS)[:5_000])
        torch.manual_seed(0)
        sizes = {"vocab_size": len(tokenizer), "max_position_embeddings": LENGTH}
        library.BertModel(library.BertConfig(**{**SIZES, **sizes})).save_pretrained(model)
        tokenizer.save_pretrained(model)
    return path


def job(**more: Any) -> dict[str, Any]:
    return {
        "dataset": str(FOLDER / "texts.parquet"),
        "config": {
            "input_features": [
                {
                    "name": "text",
                    "type": "text",
                    "preprocessing": {"max_sequence_length": LENGTH},
                    "encoder": {
                        "type": "bert",
                        "pretrained_model_name_or_path": str(FOLDER / "model"),
                        "trainable": True,
                        "reduce_output": "cls_pooled",
                    },
                }
            ],
            "combiner": {"type": "concat", "num_fc_layers": 0},
            "output_features": [{"name": "label", "type": "category"}],
            "trainer": {
                "epochs": 1,
                "batch_size": 32,
                "learning_rate": RATE,
                "optimizer": {"type": "adamw"},
                "gradient_clipping": {"clipglobalnorm": CLIP},
            },
        },
        "backend": {"type": "local", "cache_dir": str(FOLDER / "cache")},
        **more,
    }


@dataclass(frozen=True)
class _Round:
    theirs: Measured
    ours: Measured
    plain: Measured
    accuracy: float


def _round(path: Path) -> _Round:
    theirs = measure(python(str(BASELINE), str(path), str(FOLDER / "model")))
    ours = _ours("job.json")
    accuracy = json.loads((FOLDER / "out" / "metrics.json").read_text())["end"]["test"]["label"]["accuracy"]
    return _Round(theirs, ours, _ours("plain.json"), accuracy)


def _ours(name: str) -> Measured:
    shutil.rmtree(FOLDER / "cache", ignore_errors=True)
    return measure(trainwright("train", str(FOLDER / name), "--output", str(FOLDER / "out"), "--overwrite"))


def whole() -> dict[str, Result]:
    """Whole processes, in turn, with an empty cache."""
    path = data()
    (FOLDER / "job.json").write_text(json.dumps(job()))
    (FOLDER / "plain.json").write_text(json.dumps(job(report={"maxSeconds": 0})))
    measured = [_round(path) for _ in range(ROUNDS)]
    found = {
        "text, 50,000 rows: whole": median(one.ours.seconds / one.theirs.seconds for one in measured),
        "text, 50,000 rows: whole, CPU time": median(one.ours.cpu_seconds / one.theirs.cpu_seconds for one in measured),
        "text, 50,000 rows: whole, no analyses": median(one.plain.seconds / one.theirs.seconds for one in measured),
    }
    return {
        **{name: result(value, "× bare loop", "≤ 1.15") for name, value in found.items()},
        "text, 50,000 rows: bare loop": result(median(one.theirs.seconds for one in measured), "s"),
        "text, 50,000 rows: test accuracy": result(measured[0].accuracy, ""),
    }


def buckets() -> dict[str, Result]:
    """The rows per second of our loop on a BERT, with batches of similar lengths and with random ones."""
    torch.set_num_threads(1)
    encoder = {"type": "bert", "use_pretrained": False, "trainable": True, "vocab_size": TOKENS, **SIZES}
    inputs = [{"name": "x", "type": "text", "encoder": encoder}]
    made = config(inputs, {"type": "concat", "num_fc_layers": 0}, 32, steps=EPOCHS * STEPS)
    counts = lengths(32 * STEPS)
    values = pa.array(np.random.default_rng(2).integers(1, TOKENS, counts.sum()).astype(np.int32))
    words = pa.LargeListArray.from_arrays(pa.array(np.concatenate([[0], np.cumsum(counts)])), values)
    labels = torch.from_numpy(np.random.default_rng(3).integers(0, 10, (len(counts), 1)))
    held = EncodedRows(torch.zeros(len(counts), 0), labels, np.arange(len(counts)), (words,))

    def seconds(bucketing: int | None) -> float:
        rows = Materialised(held, EpochOrder(0, bucketing=bucketing))
        # Whole epochs, whose batches have the same rows in both orders.
        return train(made, {"x": TEXT, "y": LABELS}, rows, warm_up=STEPS - 1)

    value = ratio(lambda: seconds(0), lambda: seconds(None), BUCKET_ROUNDS)
    padding = 1 - counts.sum() / sum(32 * int(part.max()) for part in np.split(counts, STEPS))
    return {
        "length buckets: steps": result(value, "× the speed of random batches", "≥ 1.3"),
        "length buckets: padding of random batches": result(100 * padding, "%"),
    }
