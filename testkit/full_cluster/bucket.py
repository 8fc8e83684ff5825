"""A bucket for one test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import boto3
from botocore.config import Config


@dataclass(frozen=True)
class Bucket:
    name: str
    client: Any
    """The client of boto3, which has no types."""

    @classmethod
    def make(cls, name: str, environment: Mapping[str, str]) -> Self:
        made = cls(name, _client(environment))
        made.client.create_bucket(Bucket=name)
        return made

    @classmethod
    def anew(cls, name: str, environment: Mapping[str, str]) -> Self:
        """Create the bucket. A bucket of this name from a killed test is replaced."""
        left = cls(name, _client(environment))
        if name in [listed["Name"] for listed in left.client.list_buckets()["Buckets"]]:
            left.remove()
        return cls.make(name, environment)

    def uri(self, key: str) -> str:
        return f"s3://{self.name}/{key}"

    def upload(self, file: Path, key: str) -> str:
        """Return the URI of the object."""
        self.client.upload_file(str(file), self.name, key)
        return self.uri(key)

    def keys(self, prefix: str = "") -> list[str]:
        pages = self.client.get_paginator("list_objects_v2").paginate(Bucket=self.name, Prefix=prefix)
        return [listed["Key"] for page in pages for listed in page.get("Contents", ())]

    def read(self, key: str) -> bytes:
        content: bytes = self.client.get_object(Bucket=self.name, Key=key)["Body"].read()
        return content

    def encoded(self, cache: str) -> Mapping[str, bytes]:
        """The columns and statistics of a cache, by name."""
        kinds = (f"{cache}/features/", f"{cache}/statistics/")
        return {key.removeprefix(cache): self.read(key) for key in self.keys(f"{cache}/") if key.startswith(kinds)}

    def remove(self) -> None:
        for key in self.keys():
            self.client.delete_object(Bucket=self.name, Key=key)
        self.client.delete_bucket(Bucket=self.name)


def _client(environment: Mapping[str, str]) -> Any:
    return boto3.client(
        "s3",
        endpoint_url=environment["AWS_ENDPOINT_URL"],
        aws_access_key_id=environment["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=environment["AWS_SECRET_ACCESS_KEY"],
        region_name=environment.get("AWS_REGION", "us-east-1"),
        config=Config(signature_version="s3v4"),
    )
