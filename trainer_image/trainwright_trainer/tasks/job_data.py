"""The data set of a job, as its options say, encoded for the training of its config."""

from __future__ import annotations

from dataclasses import dataclass

from trainwright_trainer.callbacks.formats import counted
from trainwright_trainer.data import source
from trainwright_trainer.data.cache_lookup import own
from trainwright_trainer.data.files import Files, find
from trainwright_trainer.data.prepared import SPLIT_NAMES, Prepared
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.data.selection import block_rows, features_of, wanted_columns
from trainwright_trainer.data.source import DataSource
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.frames.interface import Processor
from trainwright_trainer.job.job import Job


@dataclass(frozen=True)
class FilledCache:
    """The cache after preprocessing: one line about it, the notices, the hash of the data, the parts without rows."""

    line: str
    notices: tuple[str, ...]
    content: str
    empty: tuple[str, ...]

    @classmethod
    def of(cls, data: Prepared) -> FilledCache:
        """Waits until the cache is written. Raises `EnvironmentFailure` if it could not be written as a whole."""
        notices = (*data.notices, *data.finish())
        if data.cache_use is not None and (failure := data.cache_use.cache.failure) is not None:
            raise EnvironmentFailure(f"the cache could not be written ({failure})")
        state = "was there" if data.cache_hit else "written"
        line = f"{data.dataset}: {counted(data.rows, 'row')}; cache {data.cache_key[:12]} {state}"
        empty = tuple(name for part, name in enumerate(SPLIT_NAMES) if not (data.splits == part).any())
        return cls(line, notices, data.content, empty)


def dataset_files(job: Job) -> Files:
    """The files of the data set. Raises `Mistakes` if it is not there, and `EnvironmentFailure`."""
    return find(job.dataset, job.keys.datasets, job.spec.dataset_options)


def check_data(job: Job) -> None:
    """Look at the head of the data set of a config, before workers start.

    Raises `Mistakes` if the data set is not there or lacks a column, and `EnvironmentFailure`.
    """
    config = job.config
    assert config is not None
    source.check(dataset_files(job), wanted_columns(features_of(config), config.preprocessing))


def prepare_data(job: Job, processor: Processor | None = None) -> Prepared:
    """See `data.preprocess.prepare`. `processor`: None for the one of a single process."""
    return prepare(
        job.config,
        job.dataset,
        seed=job.spec.seed,
        cache_dir=job.cache_dir,
        keys=job.keys,
        options=job.spec.dataset_options,
        max_cache_bytes=job.spec.cache.max_bytes,
        processor=processor,
        adopt=own if job.source is None else job.source.adopt,
        home=job.home,
    )


def raw_data(job: Job) -> DataSource:
    """The raw columns of the features of a job. Raises `Mistakes` if the data set is not there."""
    features = features_of(job.config)
    return DataSource(dataset_files(job), wanted_columns(features, None), (), block_rows(features))
