"""The model zoo beside hand-written programs.

python -m bench.models [--only bert|resnet|tabnet|buckets|text|embeddings|images|memory|overlap|startup] [--dry]
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from functools import partial

from bench.models import embeddings, families, images, startup, text
from bench.results import HERE, Book, Result, record

BOOK = Book(HERE / "models.json", "<!-- results: make bench-models writes this table -->")
PARTS: dict[str, Callable[[], dict[str, Result]]] = {
    **{name: partial(families.run, name) for name in families.FAMILIES},
    "buckets": text.buckets,
    "text": text.whole,
    "embeddings": embeddings.run,
    "images": images.speed,
    "overlap": images.overlap,
    "memory": images.memory,
    "startup": startup.run,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.models", description="The model zoo beside bare programs.")
    parser.add_argument("--only", choices=list(PARTS), help="one of the parts")
    parser.add_argument("--dry", action="store_true", help="print, and write nothing")
    options = parser.parse_args()
    for name, run in PARTS.items():
        if options.only in (None, name):
            record(run(), BOOK, dry=options.dry)


if __name__ == "__main__":
    main()
