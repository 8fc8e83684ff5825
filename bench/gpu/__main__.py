"""Training on this machine's GPU beside hand-written programs, and its waits for data.

python -m bench.gpu [--dry] [--only mlp|transformer|stall]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch

from bench.gpu import mlp, stall, transformer
from bench.results import HERE, Book, Result, record
from trainwright_trainer.distributed.process_group import join_group_of_one

BOOK = Book(HERE / "gpu.json", "<!-- results: make bench-gpu writes this table -->")
PARTS: dict[str, Callable[[], dict[str, Result]]] = {
    "mlp": mlp.results,
    "transformer": transformer.results,
    "stall": stall.results,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.gpu", description="Training on a GPU beside hand-written programs.")
    parser.add_argument("--dry", action="store_true", help="print, and write nothing")
    parser.add_argument("--only", choices=list(PARTS), help="one of the three")
    options = parser.parse_args()
    if not torch.cuda.is_available():
        raise SystemExit("torch finds no GPU on this machine")
    print(torch.cuda.get_device_name(), torch.__version__, flush=True)
    torch.cuda.set_device(0)
    join_group_of_one(torch.device("cuda", 0))
    for name, part in PARTS.items():
        if options.only in (None, name):
            record(part(), BOOK, dry=options.dry)


if __name__ == "__main__":
    main()
