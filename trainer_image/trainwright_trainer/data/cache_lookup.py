"""Look up the cached results of a data set, so that only the missing ones are computed."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from trainwright_trainer.data.cache import Cache
from trainwright_trainer.data.column_entries import GrowingColumn, StoredColumn
from trainwright_trainer.data.columnfile import Column
from trainwright_trainer.data.keys import digest, feature_key, split_key, statistics_key
from trainwright_trainer.data.split import Parts
from trainwright_trainer.data.split_assignment import column_of, parts_of
from trainwright_trainer.features.column import Feature, Statistics
from trainwright_trainer.frames.pandas import in_threads

MOST_ROWS_READ = 1 << 20
"""The columns of more rows stay in their files until they are used."""


Adopt = Callable[[Feature, Statistics], Statistics]
"""The statistics of `encode` and of the model, from those of the training rows, which may still lack a round."""


def own(feature: Feature, statistics: Statistics) -> Statistics:  # noqa: ARG001
    """Adopts nothing: the statistics of the training rows."""
    return statistics


@dataclass
class CacheLookup:
    """The results of preprocessing, first from the cache, then computed. The mappings are keyed by feature name.

    `computed` holds the statistics of the training rows, as the cache does; `statistics` those that `adopt` makes of
    them.
    """

    cache: Cache
    content: str
    split_key: str
    adopt: Adopt = own
    parts: Parts | None = None
    computed: dict[str, Statistics] = field(default_factory=dict)
    statistics: dict[str, Statistics] = field(default_factory=dict)
    columns: dict[str, Column | StoredColumn] = field(default_factory=dict)

    def is_whole(self, features: Sequence[Feature]) -> bool:
        return self.parts is not None and all(feature.name in self.columns for feature in features)

    def add_parts(self, parts: Parts, from_column: bool) -> None:
        self.parts = parts
        self.cache.write_json("rows", self.content, {"rows": len(parts)})
        if from_column:
            self.cache.write_column("splits", self.split_key, Column(pa.chunked_array([pa.array(parts)])))

    def add_statistics(self, feature: Feature, statistics: Statistics) -> None:
        self.take_statistics(feature, statistics)
        self.cache.write_json("statistics", statistics_key(self.split_key, feature), statistics)

    def take_statistics(self, feature: Feature, computed: Statistics) -> None:
        self.computed[feature.name] = computed
        self.statistics[feature.name] = self.adopt(feature, computed)

    def recall(self, feature: Feature, statistics: Statistics) -> bool:
        """Take the column from the cache. Returns False if it is absent.

        It may be there from another split that led to the same statistics.
        """
        column = self._stored(feature, statistics)
        if column is not None:
            self.columns[feature.name] = column
        return column is not None

    def _stored(self, feature: Feature, statistics: Statistics) -> Column | StoredColumn | None:
        fits = self.parts is not None and len(self.parts) <= MOST_ROWS_READ and feature.type != "image"
        read = self.cache.read_column if fits else self.cache.stored_column
        return read("features", self.key(feature, statistics))

    def add_column(self, feature: Feature, statistics: Statistics, column: Column) -> None:
        self.columns[feature.name] = column
        self.cache.write_column("features", self.key(feature, statistics), column)

    def begin_column(self, feature: Feature, statistics: Statistics, type_: pa.DataType) -> GrowingColumn:
        """A column that is too large for the memory. Raises EnvironmentFailure."""
        key = self.key(feature, statistics)
        return self.cache.begin_column("features", key, type_, nullable=feature.may_drop)

    def key(self, feature: Feature, statistics: Statistics) -> str:
        """The key of the column. The statistics may lack what `encode` does not read."""
        return feature_key(self.content, feature, statistics)

    def entries(self, features: Sequence[Feature], split_column: str | None) -> dict[str, str | None]:
        """The name of each entry that a run reads, with the name of its feature."""
        found: dict[str, str | None] = {f"rows/{self.content}.json": None}
        if split_column is not None:
            found[f"splits/{self.split_key}.parquet"] = None
        for feature in features:
            key = self.key(feature, self.statistics[feature.name])
            found[f"features/{key}.parquet"] = feature.name
            found[f"statistics/{statistics_key(self.split_key, feature)}.json"] = feature.name
        return found

    def cache_key(self, features: Sequence[Feature]) -> str:
        """The key of all cached data that a run reads: its split and every column."""
        return digest([self.split_key, [self.key(feature, self.statistics[feature.name]) for feature in features]])


def look_up(
    cache: Cache, content: str, config: Any, seed: int, features: Sequence[Feature], adopt: Adopt = own
) -> CacheLookup:
    """All that the cache holds for this content and config."""
    found = CacheLookup(cache, content, split_key(content, config.preprocessing, seed), adopt)
    found.parts = _parts(found, config.preprocessing, seed)
    readers = cache.storage.readers(pa.cpu_count())
    keys = [statistics_key(found.split_key, feature) for feature in features]
    read = in_threads(partial(cache.read_json, "statistics"), keys, readers)
    for feature, statistics in zip(features, read, strict=True):
        if statistics is not None:
            found.take_statistics(feature, statistics)
    known = [feature for feature in features if feature.name in found.statistics]
    deque(in_threads(lambda feature: found.recall(feature, found.statistics[feature.name]), known, readers), 0)
    return found


def _parts(found: CacheLookup, preprocessing: Any, seed: int) -> Parts | None:
    if column_of(preprocessing) is not None:
        column = found.cache.read_column("splits", found.split_key)
        return None if column is None else np.asarray(column.values.to_numpy(), dtype=np.uint8)
    rows = found.cache.read_json("rows", found.content)
    return None if rows is None else parts_of(preprocessing, seed, rows["rows"], None)
