"""Three families of models in our loop, beside the bare module in the shortest loop, on the same batches.

The step of both: forward, backward, clipping, Adam. One thread, CPU time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from bench.models.sides import CPU, Ready, ratio, seconds_per_step, train
from bench.results import Result, result
from trainwright_api.config import ModelConfig, resolve
from trainwright_trainer.combiners import COMBINERS, CombinerInput
from trainwright_trainer.encoders.base import EncoderInput
from trainwright_trainer.encoders.image import Pixels
from trainwright_trainer.loader.batch import Batch, Ragged, padded

STEPS, ROUNDS, CLASSES = 16, 5, 10
TOKENS, LENGTH, SIDE, COLUMNS = 2_000, 64, 64, 30
SIZES = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 512}
LABELS = {"type": "category", "vocabulary": [str(each) for each in range(CLASSES)], "counts": [10] * CLASSES}
TEXT = {"type": "text", "vocabulary": [str(each) for each in range(TOKENS)], "length": LENGTH, "padding": "right"}
IMAGE = {"type": "image", "channels": 3, "height": SIDE, "width": SIDE, "standardize": None, "length": 1000.0}
NUMBER = {"type": "number", "mean": 0.0, "std": 1.0, "normalization": None, "scale": 1.0, "shift": 0.0}
Bare = Callable[[Batch], torch.Tensor]


def config(inputs: Sequence[dict[str, Any]], combiner: dict[str, Any], rows: int, steps: int = STEPS) -> ModelConfig:
    return resolve(
        ModelConfig.model_validate(
            {
                "input_features": list(inputs),
                "combiner": combiner,
                "output_features": [{"name": "y", "type": "category"}],
                "trainer": {
                    "effective_batch_size": rows,
                    "gradient_accumulation_steps": 1,
                    "train_steps": steps,
                    "early_stop": -1,
                    "learning_rate": 0.0001,
                    "optimizer": {"type": "adam"},
                    "gradient_clipping": {"clipglobalnorm": 0.5},
                },
            }
        )
    )


def by_hand(model: nn.Module, logits_of: Bare, batches: Sequence[Batch]) -> float:
    """The shortest loop. Returns the seconds per step."""
    optimizer, times = torch.optim.Adam(model.parameters(), lr=0.0001, fused=True), []
    model.train()
    for batch in batches:
        loss = F.cross_entropy(logits_of(batch), batch.ints[:, 0])
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(model.parameters(), 0.5)
        optimizer.step()
        optimizer.zero_grad()
        times.append(CPU())
    return seconds_per_step(times)


def _batch(number: int, rows: int, **columns: Any) -> Batch:
    labels = torch.from_numpy(np.random.default_rng(number).integers(0, CLASSES, (rows, 1)))
    nothing = torch.zeros(rows, 0)
    return Batch(columns.pop("floats", nothing), labels, np.arange(rows) + number * rows, **columns)


def bert(rows: int = 32) -> tuple[ModelConfig, Any, list[Batch], nn.Module, Bare]:
    library: Any = import_module("transformers")
    encoder = {"type": "bert", "use_pretrained": False, "trainable": True, "vocab_size": TOKENS, **SIZES}
    made = config(
        [{"name": "x", "type": "text", "encoder": {**encoder, "reduce_output": "cls_pooled"}}],
        {"type": "concat", "num_fc_layers": 0},
        rows,
    )
    draws, batches = np.random.default_rng(0), []
    for number in range(STEPS):
        bounds = np.concatenate([[0], np.cumsum(draws.integers(LENGTH // 4, LENGTH + 1, rows))])
        words = Ragged.of(draws.integers(1, TOKENS, bounds[-1]), bounds)
        batches.append(_batch(number, rows, ragged=(words,)))
    model = library.BertModel(library.BertConfig(vocab_size=TOKENS, **SIZES))
    head = nn.Linear(SIZES["hidden_size"], CLASSES)
    ready = {id(batch): padded(batch.ragged[0]) for batch in batches}

    def logits(batch: Batch) -> torch.Tensor:
        index, lengths = ready[id(batch)]
        mask = torch.arange(index.shape[1]) < lengths.unsqueeze(1)
        found: torch.Tensor = head(model(input_ids=index, attention_mask=mask.long()).pooler_output)
        return found

    return made, {"x": TEXT, "y": LABELS}, batches, nn.ModuleList([model, head]), logits


def resnet(rows: int = 16) -> tuple[ModelConfig, Any, list[Batch], nn.Module, Bare]:
    encoder = {"type": "resnet", "model_variant": 18, "use_pretrained": False}
    made = config([{"name": "x", "type": "image", "encoder": encoder}], {"type": "concat", "num_fc_layers": 0}, rows)
    draws = torch.Generator().manual_seed(0)
    shape = (rows, 3, SIDE, SIDE)
    batches = [
        _batch(number, rows, images=(torch.randint(256, shape, generator=draws, dtype=torch.uint8),))
        for number in range(STEPS)
    ]
    model = import_module("torchvision.models").resnet18(num_classes=CLASSES)
    pixels = Pixels(EncoderInput(IMAGE, 1, ""))

    def logits(batch: Batch) -> torch.Tensor:
        found: torch.Tensor = model(pixels(batch.images[0]))
        return found

    return made, {"x": IMAGE, "y": LABELS}, batches, model, logits


def tabnet(rows: int = 1024) -> tuple[ModelConfig, Any, list[Batch], nn.Module, Bare]:
    names = [f"x{column}" for column in range(COLUMNS)]
    made = config([{"name": name, "type": "number"} for name in names], {"type": "tabnet"}, rows)
    draws = torch.Generator().manual_seed(0)
    batches = [_batch(number, rows, floats=torch.randn(rows, COLUMNS, generator=draws)) for number in range(STEPS)]
    combiner = COMBINERS[type(made.combiner)](made.combiner, [CombinerInput("x", "vector", COLUMNS)], "combiner")
    head = nn.Linear(combiner.output_size, CLASSES)

    def logits(batch: Batch) -> torch.Tensor:
        found: torch.Tensor = head(combiner([batch.floats]).values)
        return found

    return made, {**dict.fromkeys(names, NUMBER), "y": LABELS}, batches, nn.ModuleList([combiner, head]), logits


FAMILIES = {"bert": bert, "resnet": resnet, "tabnet": tabnet}


def run(name: str) -> dict[str, Result]:
    torch.set_num_threads(1)
    made, known, batches, model, logits = FAMILIES[name]()
    value = ratio(lambda: train(made, known, Ready(batches)), lambda: by_hand(model, logits, batches), ROUNDS)
    return {f"{name}: steps": result(value, "× the bare module's speed", "≥ 0.95")}
