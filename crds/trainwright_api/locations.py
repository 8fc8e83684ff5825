"""The scheme of S3 and the parser of its URIs. No other module of the product spells the scheme."""

from __future__ import annotations

import re

from trainwright_api.problems import Mistakes

S3 = "s3://"
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]")


def is_s3(location: str) -> bool:
    return location.startswith(S3)


def scheme_of(location: str) -> str:
    """Return the scheme with its slashes, such as `gs://`. It is empty for a path."""
    scheme, slashes, _ = location.partition("://")
    return scheme + slashes if slashes else ""


def parse_s3(location: str, path: str) -> tuple[str, str]:
    """Return the bucket and the key of a URI of S3. The key neither starts nor ends with a slash; it may be empty.

    Raises `Mistakes` with the path in the job. The message contains no text that may be a secret.
    """
    bucket, _, key = location.removeprefix(S3).partition("/")
    if "@" in bucket or ":" in bucket:
        line = f"keys and ports have no place in a URI: give them by AWS_… variables, as in {S3}bucket"
        raise Mistakes.one(path, line)
    if not _BUCKET.fullmatch(bucket):
        raise Mistakes.one(path, f"{location!r} names no bucket: expected {S3}bucket/path, with 3 to 255 characters")
    return bucket, key.strip("/")
