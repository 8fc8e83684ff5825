"""Processors map functions over blocks of data. Each has one file; `backend.processor.type` selects it."""

from __future__ import annotations

from trainwright_trainer.errors import not_built
from trainwright_trainer.frames.interface import Processor
from trainwright_trainer.frames.pandas import PandasProcessor

PROCESSORS = {"pandas": PandasProcessor}


def processor_of(word: str, threads: int | None = None) -> Processor:
    """The processor called `word`. Raises `Mistakes` for a processor that this version lacks."""
    if word not in PROCESSORS:
        raise not_built("backend.processor.type", word, ", ".join(PROCESSORS))
    return PROCESSORS[word](threads)
