"""A transformer of 100 M parameters on texts, by our loop with DDP and FSDP2, and by the shortest loop around the same
module, which gets its batches for nothing."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.nn.functional import cross_entropy
from torch.nn.parallel import DistributedDataParallel

from bench.gpu.sides import DEVICE, Clock, Statistics, rows_of, train
from bench.loop import CLIP, trainer
from bench.results import Result, result
from trainwright_api.config import ModelConfig, resolve
from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.encoded_rows import EncodedRows
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.models.model import Model
from trainwright_trainer.models.trainable import allocate
from trainwright_trainer.strategies import STRATEGIES

# A batch that fills the GPU: with 64 rows, an H200 is ready before a core has started the kernels of the next step.
TOKENS, LENGTH, CLASSES, BATCH = 20_000, 128, 10, 256
RATE = 0.0001
ENCODER = {
    "type": "transformer",
    "embedding_size": 768,
    "hidden_size": 768,
    "num_heads": 12,
    "transformer_output_size": 3072,
    "num_layers": 12,
    "dropout": 0.0,
}
STATISTICS: Statistics = {
    "x": {"type": "text", "vocabulary": [str(each) for each in range(TOKENS)], "length": LENGTH, "padding": "right"},
    "y": {"type": "category", "vocabulary": [str(each) for each in range(CLASSES)], "counts": [10] * CLASSES},
}
HALF = {"type": "fsdp", "mp_policy": {"param_dtype": "bfloat16", "reduce_dtype": "float32"}}
WARM_UP, STEPS, ROUNDS = 10, 40, 3


def results() -> dict[str, Result]:
    rows = data(BATCH * STEPS)  # one epoch, at whose end is the only evaluation
    batches = [rows.part(first, first + BATCH).on(DEVICE) for first in range(0, len(rows), BATCH)]
    sides: dict[str, Callable[[], float]] = {
        "DDP, by hand": lambda: by_hand(batches, _ddp, half=True),
        "DDP, ours": lambda: ours(rows, {"type": "ddp"}, use_mixed_precision=True),
        "FSDP2, by hand": lambda: by_hand(batches, _fsdp, half=False),
        "FSDP2, ours": lambda: ours(rows, HALF),
    }
    turns = [dict(list(sides.items())[:: 1 if number % 2 else -1]) for number in range(ROUNDS)]
    rounds = [{name: side() for name, side in turn.items()} for turn in turns]
    plain = ours(rows, {"type": "ddp"})
    parameters = sum(one.numel() for one in Model(*_made()).parameters())
    print(f"{parameters / 1e6:.1f} M parameters, {BATCH} × {LENGTH} tokens a step", flush=True)
    found: dict[str, Result] = {}
    for strategy in ("DDP", "FSDP2"):
        pairs = [(one[f"{strategy}, by hand"], one[f"{strategy}, ours"]) for one in rounds]
        name = f"transformer of 100 M parameters, bf16, {strategy}"
        found |= {
            f"{name}: by hand": result(statistics.median(1 / hand for hand, _ in pairs), "steps/s"),
            f"{name}: ours": result(statistics.median(1 / own for _, own in pairs), "steps/s"),
            f"{name}: ratio": result(statistics.median(hand / own for hand, own in pairs), "×", "≥ 0.98"),
        }
    half = statistics.median(one["DDP, ours"] for one in rounds)
    found["transformer of 100 M parameters, DDP: bf16"] = result(plain / half, "× float32", "≥ 2")
    return found


def data(rows: int) -> EncodedRows:
    draws = np.random.default_rng(0)
    tokens = pa.array(draws.integers(2, TOKENS, rows * LENGTH).astype("int32"))
    texts = pa.LargeListArray.from_arrays(pa.array(np.arange(rows + 1) * LENGTH), tokens)
    labels = torch.from_numpy(draws.integers(0, CLASSES, (rows, 1)))
    return rows_of(torch.zeros(rows, 0), labels, [texts])


def config(**settings: Any) -> ModelConfig:
    return resolve(
        ModelConfig.model_validate(
            {
                "input_features": [{"name": "x", "type": "text", "encoder": ENCODER}],
                "output_features": [{"name": "y", "type": "category"}],
                "trainer": trainer(BATCH, STEPS, steps_per_checkpoint=STEPS, learning_rate=RATE, **settings),
            }
        )
    )


def ours(rows: EncodedRows, strategy: dict[str, Any], **settings: Any) -> float:
    clock = Clock(WARM_UP, STEPS)
    section = Strategy.model_validate(strategy)
    train(config(**settings), STATISTICS, rows, ProcessGroup(DEVICE), STRATEGIES[section.type](section), [clock])
    return clock.seconds_per_step


def _made() -> tuple[ModelConfig, Any, Any, int]:
    made = config()
    return made, STATISTICS, layout_of(made, STATISTICS), 0


def by_hand(batches: list[Batch], wrap: Callable[[Model], nn.Module], *, half: bool) -> float:
    model = Model(*_made())
    allocate(model, DEVICE)
    wrapped = wrap(model)
    optimizer = torch.optim.Adam(wrapped.parameters(), lr=RATE, fused=True)
    clock = Clock(WARM_UP, STEPS)
    wrapped.train()
    for step, batch in enumerate(_round_and_round(batches), 1):
        with torch.autocast(DEVICE.type, torch.bfloat16, enabled=half):
            logits = wrapped(batch)["y"]
        loss = cross_entropy(logits.float(), batch.ints[:, 0])
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(wrapped.parameters(), CLIP)
        optimizer.step()
        optimizer.zero_grad()
        clock.at(step)
    return clock.seconds_per_step


def _round_and_round(batches: list[Batch]) -> Iterator[Batch]:
    for step in range(STEPS):
        yield batches[step % len(batches)]


def _ddp(model: Model) -> nn.Module:
    return DistributedDataParallel(model, gradient_as_bucket_view=True)


def _fsdp(model: Model) -> nn.Module:
    mesh, half = init_device_mesh(DEVICE.type, (1,)), MixedPrecisionPolicy(torch.bfloat16, torch.float32)
    for block in model.blocks():
        fully_shard(block, mesh=mesh, mp_policy=half)
    fully_shard(model, mesh=mesh, mp_policy=half)
    return model
