"""Who moves blocks of data: one file a processor, chosen by `backend.processor.type`."""

from __future__ import annotations

from trainwright_trainer.errors import not_built
from trainwright_trainer.frames.interface import Processor
from trainwright_trainer.frames.pandas import PandasProcessor

PROCESSORS = {"pandas": PandasProcessor}


def processor_of(word: str, threads: int | None = None) -> Processor:
    """The processor called `word`; raises `Mistakes` for those that this version lacks."""
    if word not in PROCESSORS:
        raise not_built("backend.processor.type", word, ", ".join(PROCESSORS))
    return PROCESSORS[word](threads)
