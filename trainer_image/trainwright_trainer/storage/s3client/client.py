"""boto3's client, made once for each set of credentials. Only this module imports boto3, because the import is slow."""

from __future__ import annotations

from functools import cache
from typing import Any
from urllib.parse import urlsplit

import boto3
from botocore.config import Config
from botocore.exceptions import PartialCredentialsError
from botocore.utils import get_environ_proxies

from trainwright_api.problems import Mistakes
from trainwright_trainer.storage.s3client.credentials import S3Credentials

CONNECT_SECONDS, ANSWER_SECONDS = 10, 60
CONNECTIONS = 16
# A signature needs a region, and a store with its own address may not have one.
REGION = "us-east-1"


@cache
def client_of(access: S3Credentials) -> Any:
    """A client that is safe to use from several threads. It does not retry; `RetryPolicy` does. Raises Mistakes."""
    session = boto3.session.Session()
    try:
        return session.client(
            "s3",
            region_name=access.region or session.region_name or REGION,
            endpoint_url=access.endpoint,
            verify=access.authority,
            aws_access_key_id=access.key_id,
            aws_secret_access_key=access.secret,
            aws_session_token=access.token,
            config=Config(
                connect_timeout=CONNECT_SECONDS,
                read_timeout=ANSWER_SECONDS,
                max_pool_connections=CONNECTIONS,
                tcp_keepalive=True,
                retries={"mode": "standard", "total_max_attempts": 1},
            ),
        )
    except PartialCredentialsError as error:
        raise Mistakes.one("", "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY go together: one is missing") from error
    except ValueError as error:  # boto3 raises it for an invalid address
        line = "AWS_ENDPOINT_URL is no address: give it with its scheme, as in http://host:9000"
        raise Mistakes.one("", line) from error


def arrow_options(access: S3Credentials) -> dict[str, Any]:
    """The same connection as options of Arrow's file system, with the keys of this moment. The caller adds the bucket's
    region.
    """
    address = urlsplit(access.endpoint or "")
    where = {"endpoint_override": address.netloc, "scheme": address.scheme} if access.endpoint else {}
    proxies = get_environ_proxies(access.endpoint or "https://s3.amazonaws.com")
    return {
        **where,
        **_keys(access),
        "connect_timeout": CONNECT_SECONDS,
        "request_timeout": ANSWER_SECONDS,
        "tls_ca_file_path": access.authority,
        "proxy_options": proxies.get(address.scheme or "https"),
    }


def _keys(access: S3Credentials) -> dict[str, str | None]:
    """The keys of the job, else the keys that boto3 finds."""
    if access.key_id:
        return {"access_key": access.key_id, "secret_key": access.secret, "session_token": access.token}
    credentials = _found_credentials()
    if credentials is None:
        return {}
    found = credentials.get_frozen_credentials()
    return {"access_key": found.access_key, "secret_key": found.secret_key, "session_token": found.token}


@cache
def _found_credentials() -> Any:
    """The credentials that boto3 finds. It renews those of a role or a machine before they expire."""
    return boto3.session.Session().get_credentials()
