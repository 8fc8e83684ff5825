"""The passes over a data set: statistics of the training rows, then encoding, of all features together.

Two passes serve most features. An outlier strategy adds one, because its bounds need the column's mean first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from trainwright_api.problems import Problem
from trainwright_trainer.data.cache_lookup import Adopt, CacheLookup
from trainwright_trainer.data.encoded import EncodedColumns
from trainwright_trainer.data.row_split import Split
from trainwright_trainer.data.split import Parts
from trainwright_trainer.data.transforms import CleanBlock, Failed, Pass, PassedBlock, Work, tried
from trainwright_trainer.features.column import Feature, FeatureType, Statistics
from trainwright_trainer.features.registry import feature_type
from trainwright_trainer.frames.interface import Stage

_MOST_STATES = 32
"""The states of so many blocks are merged into one."""
_MOST_ENCODED = 256
"""The most columns that one pass encodes: each may need an open file."""


@dataclass
class Progress:
    """The way of one feature through the passes."""

    feature: Feature
    adopt: Adopt
    statistics: Statistics = field(default_factory=dict)
    rounds: int = 0
    has_column: bool = False
    problem: Problem | None = None
    states: list[Any] = field(default_factory=list)

    @property
    def module(self) -> FeatureType:
        return feature_type(self.feature.type, self.feature.path)

    @property
    def observes(self) -> bool:
        return self.rounds < self.module.rounds(self.feature).total

    @property
    def encodes(self) -> bool:
        return not self.has_column and self.rounds >= self.module.rounds(self.feature).before

    @property
    def is_done(self) -> bool:
        return self.problem is not None or (self.has_column and not self.observes)

    def work(self, may_encode: bool) -> Work:
        return Work(self.feature, self.statistics, self.adopted, self.observes, self.encodes and may_encode)

    @property
    def adopted(self) -> Statistics:
        """The statistics of `encode`."""
        return self.adopt(self.feature, self.statistics)

    def take(self, state: Any) -> None:
        """Take the state of the next block."""
        self.states.append(state)
        if len(self.states) >= _MOST_STATES:
            merged = tried(self.feature, lambda: self.module.merge(self.feature, self.states))
            if not self.failed(merged):
                self.states = [merged]

    def conclude(self) -> None:
        """End a round of observation."""
        states, self.states = self.states, []
        found = tried(self.feature, lambda: self.module.conclude(self.feature, states, self.statistics))
        if not self.failed(found):
            assert not isinstance(found, Failed)
            self.statistics, self.rounds = found, self.rounds + 1

    def failed(self, result: Any) -> bool:
        """Remember the first mistake of the feature."""
        if isinstance(result, Failed) and self.problem is None:
            self.problem = result.problem
        return self.problem is not None

    def known(self, found: CacheLookup) -> None:
        """Take what the cache holds."""
        if self.feature.name in found.computed:
            self.states = []
            self.statistics = found.computed[self.feature.name]
            self.rounds = self.module.rounds(self.feature).total
        self.has_column = self.feature.name in found.columns


class Passes:
    """The passes over one stage. `columns` collects the encoded columns."""

    def __init__(
        self, stage: Stage[CleanBlock], features: Sequence[Feature], columns: EncodedColumns, adopt: Adopt
    ) -> None:
        self._stage, self._columns = stage, columns
        self._progress = [Progress(feature, adopt) for feature in features]

    def known(self, found: CacheLookup) -> None:
        """Take what the cache holds."""
        for progress in self._progress:
            progress.known(found)

    @property
    def are_done(self) -> bool:
        return all(progress.is_done for progress in self._progress)

    @property
    def problems(self) -> list[Problem]:
        """The first mistake of each feature."""
        return [progress.problem for progress in self._progress if progress.problem is not None]

    def run(self, split: Split, found: CacheLookup | None) -> Parts:
        """One pass. Returns the parts of all rows. The rounds and columns of this pass end with `conclude`.

        `found` may be None in the first pass. Raises the errors of the data set, and `EnvironmentFailure`.
        """
        works = self._works()
        self._columns.begin(found, works)
        last = found is not None and all(self._ends(work) for work in works)
        parts = [self._taken(block) for block in self._stage.map(Pass(tuple(works), split), last=last)]
        return np.concatenate(parts) if parts else np.zeros(0, dtype=np.uint8)

    def conclude(self, found: CacheLookup) -> None:
        """End a pass: statistics and columns go to the cache, and columns that the cache holds already come from it.

        Raises `EnvironmentFailure` if columns that are too large for the memory cannot be written.
        """
        encoded = self._columns.end()
        for progress in self._progress:
            progress.has_column = progress.has_column or progress.feature.name in encoded
            if progress.problem is not None or not progress.states:
                continue
            progress.conclude()
            if progress.problem is None and not progress.observes:
                found.add_statistics(progress.feature, progress.statistics)
            if progress.problem is None and progress.encodes:
                progress.has_column = found.recall(progress.feature, progress.adopted)

    def _works(self) -> list[Work]:
        works, room = [], _MOST_ENCODED
        for progress in self._progress:
            if not progress.is_done:
                works.append(progress.work(may_encode=room > 0))
                room -= works[-1].encodes
        return works

    def _ends(self, work: Work) -> bool:
        """True if the feature needs no further pass."""
        progress = next(one for one in self._progress if one.feature is work.feature)
        rounds = progress.rounds + work.observes
        return rounds == progress.module.rounds(work.feature).total and (progress.has_column or work.encodes)

    def _taken(self, block: PassedBlock) -> Parts:
        for progress in self._progress:
            worked = block.works.get(progress.feature.name)
            if worked is None or progress.failed(worked):
                self._columns.drop(progress.feature.name)
                continue
            assert not isinstance(worked, Failed)
            if worked.state is not None:
                progress.take(worked.state)
            if worked.encoded is not None:
                self._columns.add(progress.feature.name, worked)
        self._columns.end_of_block()
        return block.parts
