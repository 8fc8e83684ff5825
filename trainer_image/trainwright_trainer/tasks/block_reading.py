"""The tasks that read and encode blocks on a cluster. Their processes import no torch: it takes much memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from trainwright_trainer.data.new_data import Apart, EncodedBlock, NewData, Tally
from trainwright_trainer.frames.pandas import reading_with
from trainwright_trainer.runtime.cpus import usable_cpus


def read(shared: NewData | Apart, part: range) -> Iterator[EncodedBlock | Tally]:
    """The blocks of a part and then its tally, in a task. A task that reads all of the data has threads."""
    data, threads = (shared.part(part), 1) if isinstance(shared, Apart) else (shared, usable_cpus())
    with reading_with(threads):
        for block in data.read():
            yield replace(block, data=replace(block.data, statistics={}))  # the actors know them
    yield data.tally
