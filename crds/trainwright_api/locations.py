"""The schemes of object stores and the parser of their URIs. No other module of the product spells a scheme."""

from __future__ import annotations

import re
from collections.abc import Mapping

from trainwright_api.problems import Mistakes

S3 = "s3://"
GCS = "gs://"
STORES = (S3, GCS)
WEB = ("http://", "https://")
DATA_ONLY: Mapping[str, str] = {
    **dict.fromkeys(WEB, "aiohttp"),
    **dict.fromkeys(("abfs://", "abfss://", "az://"), "adlfs"),
    "hf://": "huggingface_hub",
    "sftp://": "paramiko",
}
"""The schemes of stores from which data sets are read, and to which nothing is written, with the package of fsspec's
class for each."""
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,253}[A-Za-z0-9]")
_KEYS = {S3: "AWS_… variables", GCS: "GOOGLE_APPLICATION_CREDENTIALS"}


def is_s3(location: str) -> bool:
    return location.startswith(S3)


def is_stored(location: str) -> bool:
    """Return True for a URI of an object store."""
    return location.startswith(STORES)


def is_read_only(location: str) -> bool:
    """Return True for a URI of a store that holds data sets alone."""
    return scheme_of(location) in DATA_ONLY


def scheme_of(location: str) -> str:
    """Return the scheme with its slashes, such as `hdfs://`. It is empty for a path."""
    scheme, slashes, _ = location.partition("://")
    return scheme + slashes if slashes else ""


def parse_bucket(location: str, path: str) -> tuple[str, str]:
    """Return the bucket and the key of a URI of a store. The key neither starts nor ends with a slash; it may be empty.

    Raises `Mistakes` with the path in the job. The message contains no text that may be a secret.
    """
    scheme = scheme_of(location)
    bucket, _, key = location.removeprefix(scheme).partition("/")
    if "@" in bucket or ":" in bucket:
        line = f"keys and ports have no place in a URI: give them by {_KEYS[scheme]}, as in {scheme}bucket"
        raise Mistakes.one(path, line)
    if not _BUCKET.fullmatch(bucket):
        raise Mistakes.one(
            path, f"{location!r} names no bucket: expected {scheme}bucket/path, with 3 to 255 characters"
        )
    return bucket, key.strip("/")


def parse_data_uri(location: str, path: str) -> tuple[str, str, str]:
    """Return the host or container, the key and the query of a URI of a store that is only read.

    Raises `Mistakes` with the path in the job. The message contains no text that may be a secret.
    """
    scheme = scheme_of(location)
    host, _, rest = location.removeprefix(scheme).partition("/")
    key, mark, query = rest.partition("?") if scheme in WEB else (rest, "", "")
    if ":" in host.rpartition("@")[0]:
        raise Mistakes.one(path, f"a password has no place in a URI: remove it from the {scheme} one")
    if not host or not key.strip("/"):
        raise Mistakes.one(path, f"expected the URI of a file or a folder, as in {scheme}host/folder/data.parquet")
    return host, key.strip("/"), mark + query
