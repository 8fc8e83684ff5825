"""Turn raw files into encoded columns: find, read, split, describe, encode. Cached results are reused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from trainwright_api.problems import Mistakes, Problem
from trainwright_api.resource.dataset_options import DatasetOptions
from trainwright_trainer.data import source
from trainwright_trainer.data.balance import balanced
from trainwright_trainer.data.cache import cache_at
from trainwright_trainer.data.cache_lookup import Adopt, CacheLookup, look_up, own
from trainwright_trainer.data.cache_use import CacheUse
from trainwright_trainer.data.column_entries import StoredColumn
from trainwright_trainer.data.columnfile import Column
from trainwright_trainer.data.computation import Computation, check_holds_rows, stage_of
from trainwright_trainer.data.content import Contents
from trainwright_trainer.data.encoded import EncodedColumn
from trainwright_trainer.data.files import Files, find
from trainwright_trainer.data.prepared import TEST, Columns, Prepared
from trainwright_trainer.data.row_split import WholePart
from trainwright_trainer.data.selection import features_of, refuse_unbuilt_preprocessing, wanted_columns
from trainwright_trainer.data.split_assignment import check_none_is_empty, column_of
from trainwright_trainer.data.transforms import CleanBlock, Failed, Pass, Work
from trainwright_trainer.features.column import Feature, Mask, Statistics
from trainwright_trainer.frames.interface import Processor, Stage
from trainwright_trainer.frames.pandas import PandasProcessor
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
) -> Prepared:
    """The data set, encoded for the features of a resolved `ModelConfig`, with the statistics of the training rows.

    It uses the columns of the cache in `cache_dir` (default: `.trainwright_cache` beside the data), and writes new ones
    there, small ones in the background: see `Prepared.finish`. `keys` are the credentials for data and cache.
    `max_cache_bytes`: the limit of the cache's size; None: no limit. `adopt` may replace the statistics. Raises
    `Mistakes` (the first mistake of each feature, all at once) and `EnvironmentFailure`.
    """
    features = features_of(config)
    refuse_unbuilt_preprocessing(config.preprocessing)
    files = find(dataset, keys.datasets, options)
    cache = cache_at(cache_dir, files.home, keys)
    contents = Contents(files, cache)
    content = contents.remembered()
    found = look_up(cache, content, config, seed, features, adopt) if content is not None else None
    hit = found is not None and found.is_whole(features)
    try:
        if found is None or not hit:
            source.check(files, wanted_columns(features, config.preprocessing))  # a mistake leaves no folder
            cache.make()
            work = Computation(files, contents, found, config, seed, processor or PandasProcessor(), adopt)
            found, hit = work.run()
        prepared = _prepared(files, found, config, seed, hit)
    except Mistakes:
        cache.finish()  # completes the writes that have started
        raise
    used = {**contents.entries, **found.entries(features, column_of(config.preprocessing))}
    use = CacheUse(cache, prepared.cache_key, prepared.dataset, prepared.rows, used, max_cache_bytes)
    return replace(prepared, finish=use.finish)


def _prepared(files: Files, found: CacheLookup, config: Any, seed: int, hit: bool) -> Prepared:
    parts, features = found.parts, features_of(config)
    assert parts is not None, "the split is computed before the columns"
    columns = {feature.name: found.columns[feature.name] for feature in features}
    dropped = [_nulls(column) for column in columns.values() if column.null_count]
    check_none_is_empty(parts, dropped, config.preprocessing)
    notices = [notice for column in columns.values() for notice in column.notices]
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


def _nulls(column: Column | StoredColumn) -> Mask:
    """bool [rows]: the rows that the column drops."""
    return np.concatenate([block.is_null().to_numpy(zero_copy_only=False) for block in column.blocks()])


def encode_with(
    config: Any,
    statistics: Mapping[str, Statistics],
    dataset: str,
    *,
    targets: bool,
    keys: JobCredentials = NO_KEYS,
    options: DatasetOptions | None = None,
    processor: Processor | None = None,
) -> Prepared:
    """New data, encoded for a trained model with the statistics of its training, without split or cache.

    Every row is in the test part. No row is removed: a row that a feature drops has a null in that feature's column.
    With `targets`, the output features are encoded too and must exist. Raises `Mistakes`, `EnvironmentFailure`.
    """
    features = features_of(config, targets=targets)
    files = find(dataset, keys.datasets, options)
    source.check(files, wanted_columns(features, None))
    stage = stage_of(files, features, None, processor or PandasProcessor())
    rows, columns = _encoded(stage, [_work(feature, statistics) for feature in features])
    check_holds_rows(files, rows)
    return Prepared(
        dataset=files.dataset,
        rows=rows,
        splits=np.full(rows, TEST, dtype=np.uint8),
        columns=Columns(columns),
        statistics={feature.name: statistics[feature.name] for feature in features},
        content="",
        cache_key="",
        cache_hit=False,
        notices=tuple(
            dict.fromkeys([*source.notices(files), *(line for column in columns.values() for line in column.notices)])
        ),
    )


def _work(feature: Feature, statistics: Mapping[str, Statistics]) -> Work:
    return Work(feature, {}, statistics[feature.name], observes=False, encodes=True)


def _encoded(stage: Stage[CleanBlock], works: Sequence[Work]) -> tuple[int, Mapping[str, Column]]:
    """The number of rows, and the columns by feature name. Raises `Mistakes`: the first one of each feature."""
    columns = {work.feature.name: EncodedColumn(work) for work in works}
    problems: dict[str, Problem] = {}
    rows = 0
    for block in stage.map(Pass(tuple(works), WholePart(TEST)), last=True):
        rows += len(block.parts)
        for name, worked in block.works.items():
            if isinstance(worked, Failed):
                problems.setdefault(name, worked.problem)
            elif name not in problems:
                columns[name].add(worked)
    if problems:
        raise Mistakes(problems[name] for name in columns if name in problems)
    for column in columns.values():
        column.end()
    return rows, {name: column.in_memory() for name, column in columns.items()} if rows else {}
