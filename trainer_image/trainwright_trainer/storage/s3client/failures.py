"""Errors of an object store: which of them may be retried, and one readable line for each."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from botocore import exceptions as boto
from botocore.exceptions import BotoCoreError, ClientError

from trainwright_api.problems import nearest
from trainwright_api.resource.canonical import HIDDEN
from trainwright_api.resource.redaction import redacted_text
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.s3client.credentials import S3Credentials

ERRORS = (BotoCoreError, ClientError)

# Temporary errors of the store or of the network. Errors of certificates, keys and names are not temporary.
_PASSING = (
    boto.ConnectionError,
    boto.HTTPClientError,
    boto.IncompleteReadError,
    boto.CredentialRetrievalError,
    boto.MetadataRetrievalError,
)
_LASTING = (boto.SSLError, boto.ProxyConnectionError, boto.InvalidProxiesConfigError)
_PASSING_CODES = (
    "ConditionalRequestConflict",
    "InternalError",
    "OperationAborted",
    "RequestTimeout",
    "RequestLimitExceeded",
    "ServiceUnavailable",
    "SlowDown",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
)
_WEB_PAGE = "WebPage"
_ABSENT = frozenset(("404", "NoSuchKey", "NotFound"))
_TAKEN = frozenset(("412", "PreconditionFailed"))

_NO_BUCKET = "NoSuchBucket"
_LINES = {
    _NO_BUCKET: "there is no such bucket",
    "InvalidBucketName": "no bucket can have this name",
    "InvalidAccessKeyId": "the store does not know the access key; see AWS_ACCESS_KEY_ID",
    "XAdminUserNotFound": "the store does not know the access key; see AWS_ACCESS_KEY_ID",
    "SignatureDoesNotMatch": "the secret does not fit the access key; see AWS_SECRET_ACCESS_KEY",
    "InvalidToken": "the session token is not accepted; see AWS_SESSION_TOKEN",
    "ExpiredToken": "the keys have expired",
    "RequestTimeTooSkewed": "the clock of this machine is wrong",
    "QuotaExceeded": "the store's quota is used up",
    "XMinioStorageFull": "the store is full",
    "InsufficientStorage": "the store is full",
    "NotImplemented": "the store cannot do this",
    "PermanentRedirect": "the bucket lies in another region; see AWS_REGION",
    "AuthorizationHeaderMalformed": "the bucket lies in another region; see AWS_REGION",
}
_READS = {"GetObject": "read", "ListObjectsV2": "list"}
_WRITES = {"DeleteObject": "delete", "DeleteObjects": "delete", "PutObject": "write", "CreateMultipartUpload": "write"}
_NO_KEYS = "no keys to the store: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY"


def is_absent(error: Exception) -> bool:
    return code_of(error) in _ABSENT


def is_taken(error: Exception) -> bool:
    """True if a conditional write failed because the name is taken."""
    return code_of(error) in _TAKEN


def is_passing(error: Exception) -> bool:
    """True if a retry may help."""
    if isinstance(error, ClientError):
        status = _status(error)
        return code_of(error) in _PASSING_CODES or status == 429 or (status >= 500 and status != 501)
    return isinstance(error, _PASSING) and not isinstance(error, _LASTING)


def failure(place: str, error: Exception, access: S3Credentials, seconds: float = 0.0) -> EnvironmentFailure:
    """One line: the place, the store's message, and the duration of the retries."""
    line = _of_client(error, access) if isinstance(error, ClientError) else _of_connection(error, access)
    asked = f" (asked for {seconds:.0f} s)" if seconds >= 1 else ""
    return EnvironmentFailure(f"{place}: {without_secrets(line, access)}{asked}")


def like_bucket(name: str, error: Exception, buckets: Callable[[], Sequence[str]]) -> str:
    """The end of the line for an error: the nearest of `buckets` if there is no bucket `name`."""
    near = nearest(name, buckets()) if code_of(error) == _NO_BUCKET else None
    return f": did you mean {near!r}?" if near else ""


def without_secrets(line: str, access: S3Credentials) -> str:
    for secret in access.secrets:
        line = line.replace(secret, HIDDEN)
    return redacted_text(" ".join(line.split()))


def refused(about: Mapping[str, Any], operation: str) -> ClientError:
    """The error for one object of a request on several objects."""
    return ClientError({"Error": {"Code": about.get("Code", ""), "Message": about.get("Message", "")}}, operation)


def no_store(operation: str) -> ClientError:
    """The error for an answer of a server that is no object store."""
    return ClientError({"Error": {"Code": _WEB_PAGE}}, operation)


def code_of(error: Exception) -> str:
    """The store's error code; empty if the store did not answer."""
    return str(error.response.get("Error", {}).get("Code", "")) if isinstance(error, ClientError) else ""


def _status(error: ClientError) -> int:
    about: Any = error.response.get("ResponseMetadata", {})
    return int(about.get("HTTPStatusCode", 0))


def _of_client(error: ClientError, access: S3Credentials) -> str:
    code, status = code_of(error), _status(error)
    if code in _LINES:
        return _LINES[code]
    if status == 404 and error.operation_name == "HeadBucket":  # an answer to HEAD has no body and so no reason
        return _LINES[_NO_BUCKET]
    if code == _WEB_PAGE or _is_web_page(error):
        number = f" (status {status})" if status else ""
        return f"{_address(access)} answers with a web page{number}, as no store does; see AWS_ENDPOINT_URL"
    if status == 403:
        return _refused(error.operation_name, code)
    message = error.response.get("Error", {}).get("Message", "")
    return f"the store says {code or status}" + (f": {message}" if message and message != code else "")


def _refused(operation: str, code: str) -> str:
    right = {**_READS, **_WRITES}.get(operation)
    lacking = f"no permission{f' to {right}' if right else ''} ({operation}; the store says {code})"
    return f"{lacking}; use keys that may write and delete, or another place" if operation in _WRITES else lacking


def _is_web_page(error: ClientError) -> bool:
    """True for a page of a web server, a console or a proxy: without a code of S3, boto3 gives the status as one."""
    about: Any = error.response.get("ResponseMetadata", {})
    kind = str(about.get("HTTPHeaders", {}).get("content-type", ""))
    return code_of(error).isdecimal() and kind.startswith("text/html")


def _of_connection(error: Exception, access: S3Credentials) -> str:
    address = _address(access)
    if isinstance(error, boto.NoCredentialsError | boto.PartialCredentialsError):
        return _NO_KEYS
    if isinstance(error, boto.SSLError):
        return f"the certificate of {address} is not trusted: give its authority by AWS_CA_BUNDLE"
    if isinstance(error, boto.ReadTimeoutError | boto.ConnectTimeoutError):
        return f"{address} did not answer in time"
    if isinstance(error, boto.ConnectionError | boto.HTTPClientError | boto.IncompleteReadError):
        return f"no answer from {address} ({_cause(error)})"
    return str(error)


def _address(access: S3Credentials) -> str:
    return access.endpoint or "Amazon S3"


def _cause(error: Exception) -> str:
    """The operating system's message, unwrapped from the libraries' exceptions."""
    found: object = error.kwargs.get("error", error) if isinstance(error, BotoCoreError) else error
    while True:
        inner = getattr(found, "reason", None) or getattr(found, "__cause__", None)
        if not isinstance(inner, BaseException):
            break
        found = inner
    text = str(getattr(found, "strerror", None) or found)
    return _shortened(text)


def _shortened(text: str) -> str:
    """The end of a text such as `<object at 0x…>: Failed to establish …: [Errno 111] Connection refused`."""
    return text.rpartition("] ")[2] or text
