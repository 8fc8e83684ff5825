"""A place that a job names: a folder or a file of this machine, or a prefix or an object in a bucket."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from trainwright_api.locations import S3, is_s3, parse_s3, scheme_of
from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import not_built


@dataclass(frozen=True)
class S3Uri:
    """A place in an object store. Like a path, it supports `/`.

    `key` neither starts nor ends with a slash; it is empty for the bucket itself.
    """

    bucket: str
    key: str

    @classmethod
    def parse(cls, text: str, path: str) -> S3Uri:
        """The place that a URI names. Raises Mistakes with the `path` in the job."""
        return cls(*parse_s3(text, path))

    def __str__(self) -> str:
        return f"{S3}{self.bucket}/{self.key}".rstrip("/")

    def __truediv__(self, name: str) -> S3Uri:
        return S3Uri(self.bucket, f"{self.key}/{name}".strip("/"))

    @property
    def name(self) -> str:
        return PurePosixPath(self.key).name

    @property
    def suffix(self) -> str:
        return PurePosixPath(self.key).suffix

    @property
    def parent(self) -> S3Uri:
        return S3Uri(self.bucket, self.key.rpartition("/")[0])


Place = Path | S3Uri
"""A place on this machine or in a store. Both types support `/` and `str`."""


def place_of(text: str, path: str) -> Place:
    """The place that a path or a URI names. Raises Mistakes with the `path` in the job, also for unknown schemes."""
    if is_s3(text):
        return S3Uri.parse(text, path)
    if "\0" in text:
        raise Mistakes.one(path, f"{text!r} holds a null character, which no path can hold")
    scheme = scheme_of(text)
    if scheme and scheme != "file://":
        raise not_built(path, scheme, f"folders and {S3}")
    return Path(text.removeprefix("file://"))
