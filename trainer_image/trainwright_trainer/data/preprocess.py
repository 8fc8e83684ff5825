"""Turn raw files into encoded columns: find, read, split, describe, encode. Cached results are reused."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from trainwright_api.problems import Mistakes, Problem
from trainwright_api.resource.dataset_options import DatasetOptions
from trainwright_trainer.data import source, transforms
from trainwright_trainer.data.cache import cache_at
from trainwright_trainer.data.cache_lookup import CacheLookup, look_up
from trainwright_trainer.data.content import Contents
from trainwright_trainer.data.files import Files, find
from trainwright_trainer.data.prepared import TEST, TRAIN, Prepared
from trainwright_trainer.data.selection import coded_columns, features_of, refuse_unbuilt_preprocessing, wanted_columns
from trainwright_trainer.data.split import Parts
from trainwright_trainer.data.split_assignment import check_none_is_empty, column_of, parts_of
from trainwright_trainer.data.transforms import Raw
from trainwright_trainer.features.column import Feature, Mask, Statistics
from trainwright_trainer.frames.interface import Processor
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
) -> Prepared:
    """The data set, encoded for the features of a resolved `ModelConfig`, with the statistics of the training rows.

    It uses the columns of the cache in `cache_dir` (default: `.trainwright_cache` beside the data), and writes new ones
    there in the background: see `Prepared.finish`. `keys` are the credentials for data and cache. Raises `Mistakes`
    (the first mistake of each feature, all at once) and `EnvironmentFailure`.
    """
    features = features_of(config)
    refuse_unbuilt_preprocessing(config.preprocessing)
    files, processor = find(dataset, keys.datasets, options), processor or PandasProcessor()
    cache = cache_at(cache_dir, files.home, keys)
    contents = Contents(files, cache)
    content = contents.remembered()
    found = look_up(cache, content, config, seed, features, processor) if content is not None else None
    hit, raw = found is not None and found.is_whole(features), None
    if found is None or not hit:
        source.check(files, wanted_columns(features, config.preprocessing))  # before `make`: a mistake leaves no folder
        cache.make()
        raw, found = _read(files, contents, found, config, seed, features, processor)
        hit = found.is_whole(features)
    try:
        if raw is not None:
            _complete(found, raw, config, seed, features, processor)
        return _prepared(files, found, config, features, hit)
    except Mistakes:
        found.cache.finish()  # completes the writes that have started
        raise


def _read(
    files: Files,
    contents: Contents,
    found: CacheLookup | None,
    config: Any,
    seed: int,
    features: Sequence[Feature],
    processor: Processor,
) -> tuple[Raw, CacheLookup]:
    """The raw columns that are not cached, and the lookup, which may need the content's hash and so a full read."""
    if found is None:
        contents.start()
    lacking = [feature for feature in features if found is None or feature.name not in found.columns]
    lacking = lacking or list(features[:1])  # counting the rows needs one column
    preprocessing = config.preprocessing if found is None or found.parts is None else None
    raw = _raw(files, lacking, preprocessing)
    if found is not None:
        contents.confirm()
        return raw, found
    return raw, look_up(contents.cache, contents.finish(), config, seed, features, processor)


def _raw(files: Files, features: list[Feature], preprocessing: Any | None) -> Raw:
    wanted = wanted_columns(features, preprocessing)
    source.check(files, wanted)
    coded = coded_columns(features, preprocessing)
    raw = Raw(source.blocks(files, wanted, coded), [column for _, column in wanted])
    if not raw.rows:
        raise Mistakes.one("dataset", f"{files.dataset!r} holds no rows.")
    return raw


def _complete(
    found: CacheLookup, raw: Raw, config: Any, seed: int, features: Sequence[Feature], processor: Processor
) -> None:
    """Compute what is missing, feature by feature, so that a raw column is freed before the next one is encoded."""
    parts = found.parts if found.parts is not None else _split(found, raw, config.preprocessing, seed)
    check_none_is_empty(parts, [], config.preprocessing)
    training = _training(parts, raw)
    problems: list[Problem] = []
    for feature in features:
        if feature.name not in found.columns:
            try:
                _complete_feature(found, feature, raw, training, processor)
            except Mistakes as mistakes:
                problems.extend(mistakes.problems)
    if problems:
        raise Mistakes(problems)


def _split(found: CacheLookup, raw: Raw, preprocessing: Any, seed: int) -> Parts:
    column = column_of(preprocessing)
    parts = parts_of(preprocessing, seed, raw.rows, None if column is None else raw.take(column))
    found.add_parts(parts, from_column=column is not None)
    return parts


def _training(parts: Parts, raw: Raw) -> list[Mask]:
    """For each block, a mask of the training rows."""
    whole: Mask = parts == TRAIN
    return [whole[start : start + size] for start, size in zip(raw.first_rows, raw.sizes, strict=True)]


def _complete_feature(
    found: CacheLookup, feature: Feature, raw: Raw, training: Sequence[Mask], processor: Processor
) -> None:
    column = transforms.clean(feature, raw.take(feature.column), processor)
    if feature.name not in found.statistics:
        found.add_statistics(feature, transforms.statistics_of(feature, column, training, processor))
        if found.recall(feature):
            return
    found.add_column(feature, transforms.encode(feature, column, found.statistics[feature.name], processor))


def _prepared(files: Files, found: CacheLookup, config: Any, features: Sequence[Feature], hit: bool) -> Prepared:
    parts = found.parts
    assert parts is not None, "the split is computed before the columns"
    check_none_is_empty(parts, _dropped(found), config.preprocessing)
    notices = [notice for feature in features for notice in found.columns[feature.name].notices]
    if not hit:  # a run that finds everything in the cache opens no raw file
        notices = [*source.notices(files), *notices]
    return Prepared(
        dataset=files.dataset,
        rows=len(parts),
        splits=parts,
        columns={feature.name: found.columns[feature.name].values for feature in features},
        statistics={feature.name: found.statistics[feature.name] for feature in features},
        content=found.content,
        cache_key=found.cache_key(features),
        cache_hit=hit,
        notices=(*found.cache.take_notices(), *dict.fromkeys(notices)),
        finish=found.cache.finish,
    )


def _dropped(found: CacheLookup) -> list[Mask]:
    """One mask for each column that drops rows."""
    columns = [column.values for column in found.columns.values() if column.values.null_count]
    return [column.is_null().to_numpy() for column in columns]


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
    features, processor = features_of(config, targets=targets), processor or PandasProcessor()
    files = find(dataset, keys.datasets, options)
    raw = _raw(files, features, None)
    columns: dict[str, Any] = {}
    problems: list[Problem] = []
    for feature in features:
        try:
            column = transforms.clean(feature, raw.take(feature.column), processor)
            columns[feature.name] = transforms.encode(feature, column, statistics[feature.name], processor)
        except Mistakes as mistakes:
            problems.extend(mistakes.problems)
    if problems:
        raise Mistakes(problems)
    return Prepared(
        dataset=files.dataset,
        rows=raw.rows,
        splits=np.full(raw.rows, TEST, dtype=np.uint8),
        columns={name: column.values for name, column in columns.items()},
        statistics={feature.name: statistics[feature.name] for feature in features},
        content="",
        cache_key="",
        cache_hit=False,
        notices=tuple(
            dict.fromkeys([*source.notices(files), *(line for column in columns.values() for line in column.notices)])
        ),
    )
