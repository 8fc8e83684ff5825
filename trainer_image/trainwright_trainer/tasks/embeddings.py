"""Cached embeddings: before training, the vectors of a frozen encoder replace the column of its input.

The vectors are computed once, in the precision of predictions, and kept in the cache. The training then has no encoder;
its weights stay on the CPU of rank 0 until the model is saved.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import torch

from trainwright_api.config import ModelConfig
from trainwright_api.config.features import InputFeature
from trainwright_api.problems import Mistakes
from trainwright_trainer.callbacks.formats import count
from trainwright_trainer.data.cache import Cache
from trainwright_trainer.data.cache_lookup import MOST_ROWS_READ
from trainwright_trainer.data.columnfile import Column
from trainwright_trainer.data.encoded import ENCODED_BYTES
from trainwright_trainer.data.keys import embedding_key, feature_key
from trainwright_trainer.data.prepared import AnyColumn, Prepared
from trainwright_trainer.data.selection import features_of
from trainwright_trainer.distributed.ranks import Ranks
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.loader.layout import EMBEDDING
from trainwright_trainer.loop.embedding_pass import embedding_blocks
from trainwright_trainer.models.frozen import NONE, FrozenEncoders, GivenWeights

Statistics = Mapping[str, Mapping[str, Any]]
KIND = "features"
"""The entries of the cache that hold encoded columns."""


def is_cached(feature: InputFeature) -> bool:
    return bool(getattr(feature.preprocessing, "cache_encoder_embeddings", False))


def without_embeddings(statistics: Statistics) -> Statistics:
    """The statistics for a model with all its encoders."""
    return {name: {key: one[key] for key in one if key != EMBEDDING} for name, one in statistics.items()}


def embedding_keys(statistics: Statistics) -> dict[str, str]:
    """The keys of the cached embeddings, by input."""
    return {name: one[EMBEDDING]["key"] for name, one in statistics.items() if EMBEDDING in one}


def check_embeddings(before: Mapping[str, str], statistics: Statistics) -> None:
    """Raise `Mistakes` if a run that goes on has other embeddings than `before`: its weights belong to those."""
    now = embedding_keys(statistics)
    for name in sorted(before):
        if before[name] != now.get(name):
            line = f"the encoder of {name!r} has other weights than when this run began: start a new run"
            raise Mistakes.one("config.input_features", line)


def with_embeddings(
    data: Prepared,
    config: ModelConfig,
    seed: int,
    ranks: Ranks,
    log: Callable[[str], None],
    given: GivenWeights = NONE,
) -> tuple[Prepared, dict[str, torch.Tensor]]:
    """The data with the embeddings of the inputs that cache them, and the weights of their encoders (on rank 0 alone).

    All ranks must call this. Raises `Mistakes` and `EnvironmentFailure`.
    """
    wanted = [position for position, feature in enumerate(config.input_features) if is_cached(feature)]
    if not wanted:
        return data, {}
    say = log if ranks.rank == 0 else _ignore
    encoders = FrozenEncoders(config, data.statistics, seed, given)
    _check_tied(encoders)
    _check_frozen(encoders, wanted)
    work = _Embedding(data, config, encoders, ranks)
    columns: dict[str, AnyColumn] = {}
    statistics = dict(data.statistics)
    for position in wanted:
        name, key = config.input_features[position].name, work.key(position)
        columns[name], source = work.column(position, key)
        about = {"width": encoders.width(position), "steps": encoders.steps(position), "key": key}
        statistics[name] = {**statistics[name], EMBEDDING: about}
        say(f"embeddings of {name!r}: {count(data.rows)} rows × {count(encoders.width(position))} numbers, {source}")
    for notice in work.finish(embedding_keys(statistics)):
        say(notice)
    found = replace(data, columns=data.columns.replaced(columns), statistics=statistics, encoded=data.columns)
    return found, encoders.weights() if ranks.rank == 0 else {}


def _ignore(_line: str) -> None: ...


def _check_tied(encoders: FrozenEncoders) -> None:
    for position, feature in enumerate(encoders.features):
        root = encoders.root(position)
        if is_cached(feature) != is_cached(root):
            found, other = (str(is_cached(one)).lower() for one in (feature, root))
            line = f"{found}, but {other} for {root.name!r}, whose encoder it shares: give both the same"
            raise Mistakes.one(f"config.input_features[{position}].preprocessing.cache_encoder_embeddings", line)


def _check_frozen(encoders: FrozenEncoders, positions: Sequence[int]) -> None:
    for position in positions:
        name = next(encoders.trained(position), None)
        if name is not None:
            line = f"true, but the encoder has weights that are trained: {name}"
            raise Mistakes.one(f"config.input_features[{position}].preprocessing.cache_encoder_embeddings", line)


class _Embedding:
    """The embeddings of one data set: keys, cached columns, and new ones."""

    def __init__(self, data: Prepared, config: ModelConfig, encoders: FrozenEncoders, ranks: Ranks) -> None:
        assert data.cache_use is not None, "the data of a training are in a cache"
        self._data, self._encoders, self._ranks = data, encoders, ranks
        self._inputs = features_of(config, targets=False)
        self._use = data.cache_use
        self._cache = Cache(self._use.cache.storage)
        self._new: dict[str, Column] = {}

    def key(self, position: int) -> str:
        """The key of the embeddings of one input. Only rank 0 reads the weights for it."""
        feature, root = self._inputs[position], self._encoders.root(position)
        column = feature_key(self._data.content, feature, self._data.statistics[feature.name])
        weights = self._encoders.digest(position) if self._ranks.rank == 0 else ""
        section = {"encoder": root.encoder.model_dump(mode="json"), "precision": str(self._encoders.dtype)}
        own = embedding_key(column, section, self._encoders.statistics(position), weights)
        return self._ranks.share(own)

    def column(self, position: int, key: str) -> tuple[AnyColumn, str]:
        """The embeddings of one input, and where they are from. All ranks compute them if one of them lacks them."""
        found = self._stored(key)
        if self._on_all(found is not None):
            assert found is not None
            return found, "from the cache"
        self._check_weights(position)
        self._encoders.move(position, self._ranks.device)
        try:
            return self._computed(position, key), "computed"
        finally:
            self._encoders.move(position, "cpu")

    def finish(self, keys: Mapping[str, str]) -> tuple[str, ...]:
        """Write the new columns, first on rank 0: on the others only if they have a cache of their own."""
        if self._ranks.rank:
            self._ranks.share(None)
        for key, column in self._new.items():
            if self._ranks.rank == 0 or not self._cache.has_column(KIND, key):
                self._cache.write_column(KIND, key, column)
        notices = self._cache.finish()
        if self._ranks.rank == 0:
            self._ranks.share(None)
            notices += self._use.add({f"{KIND}/{key}.parquet": name for name, key in keys.items()})
        return notices

    def _stored(self, key: str) -> AnyColumn | None:
        fits = self._data.rows <= MOST_ROWS_READ
        return self._cache.read_column(KIND, key) if fits else self._cache.stored_column(KIND, key)

    def _on_all(self, own: bool) -> bool:
        ranks = self._ranks
        return int(ranks.sum(torch.tensor([int(own)], device=ranks.device)).item()) == ranks.world

    def _check_weights(self, position: int) -> None:
        """Raise `EnvironmentFailure` on a rank that reads other weights than rank 0."""
        own = self._encoders.digest(position)
        if own != self._ranks.share(own):
            name = self._encoders.root(position).name
            line = f"rank {self._ranks.rank} reads other weights than rank 0 for the encoder of {name!r}"
            raise EnvironmentFailure(f"{line}: give all machines the same files")

    def _computed(self, position: int, key: str) -> AnyColumn:
        """In memory, or in a file if they are large. All ranks have the same rows."""
        dtype = torch.empty(0, dtype=self._encoders.dtype).numpy().dtype
        kind = pa.list_(pa.from_numpy_dtype(dtype), self._encoders.width(position))
        blocks = embedding_blocks(self._data, self._encoders, position, self._ranks)
        if self._data.rows * kind.list_size * dtype.itemsize <= ENCODED_BYTES:
            column = self._new[key] = Column(pa.chunked_array(blocks, kind))
            return column
        file = self._cache.begin_column(KIND, key, kind, nullable=True)
        try:
            for block in blocks:
                file.write(block)
        except BaseException:
            file.discard()
            raise
        file.commit(())
        stored = self._stored(key)
        assert stored is not None, "the entry was written now"
        return stored
