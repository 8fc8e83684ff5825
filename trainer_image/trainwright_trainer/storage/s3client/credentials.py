"""The address of an object store and the keys to it. The keys never appear in output."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from trainwright_api.problems import Mistakes, Problem, nearest

# The names of boto3, of fsspec and of the environment for the same fields.
_NAMES = {
    "aws_access_key_id": "key_id",
    "key": "key_id",
    "aws_secret_access_key": "secret",
    "secret": "secret",
    "aws_session_token": "token",
    "token": "token",
    "endpoint_url": "endpoint",
    "aws_endpoint_url": "endpoint",
    "aws_endpoint_url_s3": "endpoint",
    "region_name": "region",
    "aws_region": "region",
    "aws_default_region": "region",
    "verify": "authority",
    "aws_ca_bundle": "authority",
}
_NESTED = ("s3", "client_kwargs")


@dataclass(frozen=True)
class S3Credentials:
    """For each field that is None, boto3 finds the value (profiles, roles, instance identity; Amazon's address)."""

    key_id: str | None = field(default=None, repr=False)
    secret: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)
    endpoint: str | None = None
    region: str | None = None
    authority: str | None = None
    """The path of the file with the trusted CA certificates."""

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values that no message may contain."""
        return tuple(value for value in (self.secret, self.token, self.key_id) if value)


def from_environment() -> S3Credentials:
    """The credentials from the environment variables that every S3 tool reads."""
    return S3Credentials(
        key_id=_given("AWS_ACCESS_KEY_ID"),
        secret=_given("AWS_SECRET_ACCESS_KEY"),
        token=_given("AWS_SESSION_TOKEN"),
        endpoint=_given("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
        region=_given("AWS_REGION", "AWS_DEFAULT_REGION"),
        authority=_given("AWS_CA_BUNDLE"),
    )


def _given(*names: str) -> str | None:
    """The value of the first of these variables that is set and not empty."""
    return next((value for name in names if (value := os.environ.get(name))), None)


def from_keys(path: str, given: str | Mapping[str, Any]) -> S3Credentials:
    """The credentials in a job: a dictionary, or the path of a JSON file. The environment gives the absent fields.

    Raises Mistakes with the `path` in the job but without the value, because users may put a secret there by mistake.
    """
    named = dict(_flat(path, _read(path, given) if isinstance(given, str) else given))
    around = from_environment()
    if "key_id" in named or "secret" in named:
        around = replace(around, key_id=None, secret=None, token=None)
        if not (named.get("key_id") and named.get("secret")):
            raise Mistakes.one(path, "needs both aws_access_key_id and aws_secret_access_key")
    return replace(around, **named)


def _read(path: str, file: str) -> Mapping[str, Any]:
    try:
        found = json.loads(Path(file).expanduser().read_text(encoding="utf-8"))
    except OSError as error:
        raise Mistakes.one(path, f"names a file that cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise Mistakes.one(path, "names a file that is no JSON") from error
    if not isinstance(found, dict):
        raise Mistakes.one(path, "names a file that holds no JSON object")
    return found


def _flat(path: str, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The fields of `S3Credentials` that a dictionary holds, in any of the three spellings."""
    for name, value in given.items():
        where = f"{path}.{name}"
        if name in _NESTED and isinstance(value, Mapping):
            yield from _flat(where, value)
        elif name.lower() not in _NAMES:
            raise Mistakes([_unknown(where, name)])
        elif not isinstance(value, str) or not value:
            raise Mistakes.one(where, "expected text")
        else:
            yield _NAMES[name.lower()], value


def _unknown(where: str, name: str) -> Problem:
    near = nearest(name, [*_NAMES, *_NESTED])
    return Problem(where, "unknown" + (f": did you mean {near!r}?" if near else f"; known are {', '.join(_NAMES)}"))
