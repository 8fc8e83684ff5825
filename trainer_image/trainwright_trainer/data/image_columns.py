"""The files of image columns: where their paths lead, and one digest of their identities, which cache keys cover."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from trainwright_api.problems import Mistakes
from trainwright_trainer.data import source
from trainwright_trainer.data.files import Files
from trainwright_trainer.data.rows import Block
from trainwright_trainer.data.selection import block_rows
from trainwright_trainer.data.transforms import Failed, cleaned
from trainwright_trainer.features import image
from trainwright_trainer.features.column import Feature
from trainwright_trainer.features.image_files import ImageFiles
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.s3client.credentials import S3Credentials


def with_files(features: Sequence[Feature], home: Storage, access: S3Credentials | None) -> list[Feature]:
    """The features; those of images with their files. Paths are relative to `home`, the folder of the data set."""
    return [
        replace(feature, files=ImageFiles(home, access, feature.path)) if feature.type == "image" else feature
        for feature in features
    ]


def look_at_files(features: Sequence[Feature], files: Files) -> None:
    """Set the digests of the files of the features. It reads their columns, and the identity of each file.

    Raises `Mistakes` and `EnvironmentFailure`.
    """
    images = [feature for feature in features if feature.files is not None]
    if not images:
        return
    hashes = {feature.name: hashlib.sha256() for feature in images}
    wanted = [(f"{feature.path}.column", feature.column) for feature in images]
    for block in source.blocks(files, wanted, (), block_rows(images)):
        for feature in images:
            hashes[feature.name].update(_digest_of(feature, block))
    for feature in images:
        assert feature.files is not None
        feature.files.digest = hashes[feature.name].hexdigest()


def _digest_of(feature: Feature, block: Block) -> bytes:
    """The digest of the files of a block; nothing for encoded images, which are part of the data set's content."""
    assert feature.files is not None
    found = cleaned(feature, block)
    if isinstance(found, Failed):
        raise Mistakes([found.problem])
    values = found.values
    if image.is_encoded(values):
        return b""
    return feature.files.digest_of(values.drop_null().to_pylist())
