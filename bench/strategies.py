"""The memory that each strategy keeps on one rank: parameters, gradients and the state of Adam, beside the theory.

python -m bench.strategies [--dry]

It counts the memory of all live tensors of torch (not RSS) after the engine is built, after the backward pass of the
first step, and after that of the second. The differences are the three parts. One float32 copy of all parameters is 1.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Mapping
from itertools import product
from typing import Any

import numpy as np
import torch

from bench.ranks import on_ranks
from bench.results import HERE, Book, Result, record, result
from trainwright_api.config import ModelConfig, resolve
from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.distributed.process_group import ProcessGroup
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.models.model import Model
from trainwright_trainer.strategies import engine_for
from trainwright_trainer.strategies.interface import Engine

WIDTH, LAYERS = 512, 8
RANKS = (1, 2, 4)
PARTS = ("parameters", "gradients", "optimizer")
NUMBER = {"type": "number", "mean": 0.0, "std": 1.0, "normalization": None, "scale": 1.0, "shift": 0.0}
STATISTICS = {"x": NUMBER, "y": {**NUMBER, "encoded": {"mean": 0.0, "std": 1.0}}}
# Strategy → the parts that it shards over the ranks.
SHARDED: Mapping[str, tuple[str, ...]] = {
    "ddp": (),
    "fsdp": PARTS,
    "ZeRO 1": ("optimizer",),
    "ZeRO 2": ("gradients", "optimizer"),
    "ZeRO 3": PARTS,
}


def theory(strategy: str, part: str, ranks: int) -> float:
    """Copies of the parameters on a rank. Adam keeps two moments.

    Source: Rajbhandari et al., "ZeRO: Memory Optimizations Toward Training Trillion Parameter Models", section 3.
    """
    copies = 2.0 if part == "optimizer" else 1.0
    return copies / ranks if part in SHARDED[strategy] else copies


def live_bytes() -> int:
    """The bytes of all memory that live tensors hold; views of one memory count once."""
    gc.collect()
    tensors = [one for one in gc.get_objects() if issubclass(type(one), torch.Tensor) and not one.is_meta]
    # A gradient that nobody has read has no Python object yet.
    tensors += [one.grad for one in tensors if one.is_leaf and one.grad is not None]
    memory = {one.untyped_storage().data_ptr(): one.untyped_storage().nbytes() for one in tensors if _is_plain(one)}
    return sum(memory.values())


def _is_plain(tensor: torch.Tensor) -> bool:
    """A DTensor has no memory; its local shard is a tensor of its own."""
    return not hasattr(tensor, "to_local")


def section_of(strategy: str) -> Strategy:
    if not strategy.startswith("ZeRO"):
        return Strategy.model_validate({"type": strategy})
    zero = {
        "stage": int(strategy[-1]),
        "reduce_bucket_size": 1_000_000,
        "allgather_bucket_size": 1_000_000,
        "stage3_param_persistence_threshold": 0,
    }
    return Strategy.model_validate({"type": "deepspeed", "zero_optimization": zero})


def model(width: int = WIDTH, layers: int = LAYERS) -> tuple[Model, ModelConfig]:
    config = resolve(
        ModelConfig.model_validate(
            {
                "input_features": [{"name": "x", "type": "number"}],
                "output_features": [{"name": "y", "type": "number"}],
                "combiner": {"type": "concat", "num_fc_layers": layers, "output_size": width},
                "trainer": {"optimizer": {"type": "adam"}},
            }
        )
    )
    return Model(config, STATISTICS, layout_of(config, STATISTICS), seed=0), config


def measure(strategy: str) -> str:
    """The memory of the three parts on this rank, in copies of all parameters."""
    made, config = model()
    ranks = ProcessGroup()
    whole = sum(one.numel() * 4 for one in made.parameters())
    before = live_bytes()
    engine = engine_for(section_of(strategy), ranks)(made, config.trainer, 0.001, ranks)
    built = live_bytes()
    compute_gradients(engine)
    computed = live_bytes()
    engine.update(0.001)
    compute_gradients(engine)
    again = live_bytes()
    return " ".join(str(part / whole) for part in (built - before, computed - built, again - computed))


def compute_gradients(engine: Engine) -> None:
    batch = Batch(torch.zeros(1, 2), torch.zeros((1, 0), dtype=torch.int64), np.arange(1))
    losses = engine.model.losses(engine.forward(batch, last=True), batch)
    engine.accumulate(engine.model.total({name: of_rows.sum() for name, of_rows in losses.items()}))


def measured(strategy: str, ranks: int) -> dict[str, Result]:
    """The three parts on rank 0."""
    parts = on_ranks(ranks, measure, strategy).split()
    return {
        f"{strategy}, {ranks} ranks: {part}": result(float(value), "copies")
        for part, value in zip(PARTS, parts, strict=True)
    }


def table(found: Mapping[str, Any]) -> str:
    """A row for each strategy and number of ranks. The theory is in brackets."""
    lines = ["| strategy | ranks | " + " | ".join(PARTS) + " |", "|---|---:|" + "---:|" * len(PARTS)]
    for strategy, ranks in product(SHARDED, RANKS):
        cells = [
            f"{found[name]['value']:.2f} ({theory(strategy, part, ranks):.2f})"
            for part in PARTS
            if (name := f"{strategy}, {ranks} ranks: {part}") in found
        ]
        if cells:
            lines.append(f"| {strategy} | {ranks} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


BOOK = Book(HERE / "strategies.json", "<!-- results: make bench-strategies writes this table -->", table)


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.strategies", description="Memory of each strategy on one rank.")
    parser.add_argument("--dry", action="store_true", help="print, and write nothing")
    options = parser.parse_args()
    for strategy, ranks in product(SHARDED, RANKS):
        record(measured(strategy, ranks), BOOK, dry=options.dry)


if __name__ == "__main__":
    main()
