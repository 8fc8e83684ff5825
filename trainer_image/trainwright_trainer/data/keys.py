"""The keys of cache entries. A key covers all inputs of an entry, and nothing else."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from trainwright_trainer.features.column import Feature, read_by_encode
from trainwright_trainer.features.subwords import pretrained_files

FORMAT = 7
"""The version of the entries. Increase it if an entry is computed or written differently: old entries are not found."""


def digest(value: Any) -> str:
    """SHA-256 of the canonical JSON text of plain values."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def split_key(content: str, preprocessing: Any, seed: int) -> str:
    """The key of the parts of all rows: content, split section, sampling and seed."""
    section = preprocessing.split.model_dump(mode="json")
    sampling = [preprocessing.sample_ratio, preprocessing.sample_size]
    return digest(["split", FORMAT, content, section, sampling, seed])


def statistics_key(of_split: str, feature: Feature) -> str:
    """The key of one feature's statistics: the training rows and the options that read the column."""
    return digest(["statistics", FORMAT, of_split, *_reading(feature)])


def feature_key(content: str, feature: Feature, statistics: Mapping[str, Any]) -> str:
    """The key of one encoded column. Split and seed affect it only through the statistics that `encode` reads."""
    return digest(["feature", FORMAT, content, *_reading(feature), digest(read_by_encode(statistics))])


def embedding_key(of_column: str, encoder: Mapping[str, Any], statistics: Mapping[str, Any], weights: str) -> str:
    """The key of the embeddings of one encoded column: the section of the encoder, the statistics of its feature, and
    the digest of its weights."""
    return digest(["embedding", FORMAT, of_column, encoder, digest(read_by_encode(statistics)), weights])


def _reading(feature: Feature) -> list[Any]:
    options = feature.preprocessing.model_dump(mode="json")
    files = pretrained_files(feature)
    digests = [] if files is None else [files.digest]
    if feature.files is not None:
        digests.append(feature.files.digest)
    checks = ["shares"] if feature.is_shares else []
    return [feature.column, feature.type, feature.is_target, options, *digests, *checks]
