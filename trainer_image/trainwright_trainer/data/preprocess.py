"""Turn raw files into encoded columns: find, read, split, describe, encode. Cached results are reused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from trainwright_api.problems import Mistakes
from trainwright_api.resource.dataset_options import DatasetOptions
from trainwright_trainer.data import source
from trainwright_trainer.data.balance import balanced
from trainwright_trainer.data.cache import cache_at
from trainwright_trainer.data.cache_lookup import Adopt, CacheLookup, look_up, own
from trainwright_trainer.data.cache_use import CacheUse
from trainwright_trainer.data.column_entries import StoredColumn
from trainwright_trainer.data.columnfile import Column
from trainwright_trainer.data.computation import Computation
from trainwright_trainer.data.content import Contents
from trainwright_trainer.data.files import Files, find
from trainwright_trainer.data.image_columns import look_at_files, with_files
from trainwright_trainer.data.missing_cells import missing_line
from trainwright_trainer.data.prepared import Columns, Prepared
from trainwright_trainer.data.selection import features_of, refuse_unbuilt_preprocessing, wanted_columns
from trainwright_trainer.data.split_assignment import check_none_is_empty, column_of
from trainwright_trainer.features.adopted import unseen_line
from trainwright_trainer.features.column import Feature, Mask
from trainwright_trainer.frames.interface import Processor
from trainwright_trainer.frames.pandas import PandasProcessor
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.s3client.job_credentials import NO_KEYS, JobCredentials


def prepare(
    config: Any,
    dataset: str,
    *,
    seed: int,
    cache_dir: str | None = None,
    keys: JobCredentials = NO_KEYS,
    options: DatasetOptions | None = None,
    processor: Processor | None = None,
    max_cache_bytes: int | None = None,
    adopt: Adopt = own,
    home: Storage | None = None,
) -> Prepared:
    """The data set, encoded for the features of a resolved `ModelConfig`, with the statistics of the training rows.

    It uses the columns of the cache in `cache_dir` (default: `.trainwright_cache` beside the data), and writes new ones
    there, small ones in the background: see `Prepared.finish`. `keys` are the credentials for data and cache.
    `max_cache_bytes`: the limit of the cache's size; None: no limit. `adopt` may replace the statistics. `home`: the
    folder that paths in the data start from; None: that of the data set. Raises `Mistakes` (the first mistake of each
    feature, all at once) and `EnvironmentFailure`.
    """
    features = features_of(config)
    refuse_unbuilt_preprocessing(config.preprocessing)
    files = find(dataset, keys.datasets, options)
    features = with_files(features, home or files.storage, keys.datasets)
    look_at_files(features, files)
    cache = cache_at(cache_dir, files.home, keys)
    contents = Contents(files, cache)
    content = contents.remembered()
    found = look_up(cache, content, config, seed, features, adopt) if content is not None else None
    hit = found is not None and found.is_whole(features)
    try:
        if found is None or not hit:
            source.check(files, wanted_columns(features, config.preprocessing))  # a mistake leaves no folder
            cache.make()
            if found is not None:
                _record_reuse(found, files, config, features)
            work = Computation(files, contents, found, config, features, seed, processor or PandasProcessor(), adopt)
            found, hit = work.run()
        prepared = _prepared(files, found, config, features, seed, hit=hit)
    except Mistakes:
        cache.finish()  # completes the writes that have started
        raise
    used = {**contents.entries, **found.entries(features, column_of(config.preprocessing))}
    use = CacheUse(cache, prepared.cache_key, prepared.dataset, prepared.rows, used, max_cache_bytes)
    return replace(prepared, finish=use.finish, cache_use=use)


def _record_reuse(found: CacheLookup, files: Files, config: Any, features: Sequence[Feature]) -> None:
    """Record the use of the columns that are there: another run might evict them while the others are computed."""
    reused = [feature for feature in features if feature.name in found.columns]
    if reused and found.parts is not None:
        used = found.entries(reused, column_of(config.preprocessing))
        CacheUse(found.cache, found.cache_key(reused), files.dataset, len(found.parts), used, None).renew()


def _prepared(
    files: Files, found: CacheLookup, config: Any, features: Sequence[Feature], seed: int, *, hit: bool
) -> Prepared:
    parts = found.parts
    assert parts is not None, "the split is computed before the columns"
    columns = {feature.name: found.columns[feature.name] for feature in features}
    dropped = [_nulls(column) for column in columns.values() if column.null_count]
    check_none_is_empty(parts, dropped, config.preprocessing)
    notices = [notice for column in columns.values() for notice in column.notices]
    notices += [*_missing(found, features), *_unseen(found, features)]
    if not hit:  # a run that finds everything in the cache opens no raw file
        notices = [*source.notices(files), *notices]
    prepared = Prepared(
        dataset=files.dataset,
        rows=len(parts),
        splits=parts,
        columns=Columns(columns),
        statistics={feature.name: found.statistics[feature.name] for feature in features},
        content=found.content,
        cache_key=found.cache_key(features),
        cache_hit=hit,
        notices=(*found.cache.take_notices(), *dict.fromkeys(notices)),
    )
    return balanced(prepared, columns, dropped, config, seed)


def _missing(found: CacheLookup, features: Sequence[Feature]) -> list[str]:
    inputs = [feature for feature in features if not feature.is_target]
    counts = {one.column: count for one in inputs if (count := found.statistics[one.name].get("missing", 0))}
    return [missing_line(counts, " in the training rows")] if counts else []


def _unseen(found: CacheLookup, features: Sequence[Feature]) -> list[str]:
    """A notice for each feature with values that an adopted vocabulary lacks."""
    lines = [unseen_line(one, found.statistics[one.name], found.computed[one.name]) for one in features]
    return [line for line in lines if line is not None]


def _nulls(column: Column | StoredColumn) -> Mask:
    """bool [rows]: the rows that the column drops."""
    return np.concatenate([block.is_null().to_numpy(zero_copy_only=False) for block in column.blocks()])
