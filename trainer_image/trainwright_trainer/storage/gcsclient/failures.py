"""Errors of Google Cloud Storage: which of them may be retried, and one readable line for each."""

from __future__ import annotations

import requests
from google.api_core.exceptions import Forbidden, GoogleAPICallError, NotFound, Unauthorized
from google.auth.exceptions import DefaultCredentialsError, GoogleAuthError, TransportError

from trainwright_api.resource.redaction import redacted_text
from trainwright_trainer.errors import EnvironmentFailure

ERRORS = (GoogleAPICallError, GoogleAuthError, requests.RequestException)
_PASSING = (requests.ConnectionError, requests.Timeout, requests.exceptions.ChunkedEncodingError, TransportError)
_LASTING = (requests.exceptions.SSLError, requests.exceptions.ProxyError)
_PASSING_CODES = (408, 429)
_RIGHTS = {"GET": " to read", "POST": " to write", "PUT": " to write", "DELETE": " to delete"}
_NO_KEYS = "no keys to the store: set GOOGLE_APPLICATION_CREDENTIALS, or give the pod a service account of Google"


def is_passing(error: Exception) -> bool:
    """True if a retry may help."""
    if isinstance(error, GoogleAPICallError):
        code = int(error.code or 0)
        return code in _PASSING_CODES or (code >= 500 and code != 501)
    return isinstance(error, _PASSING) and not isinstance(error, _LASTING)


def failure(place: str, error: Exception, address: str, seconds: float = 0.0) -> EnvironmentFailure:
    """One line: the place, the store's message, and the duration of the retries."""
    asked = f" (asked for {seconds:.0f} s)" if seconds >= 1 else ""
    return EnvironmentFailure(f"{place}: {redacted_text(' '.join(_line(error, address).split()))}{asked}")


def _line(error: Exception, address: str) -> str:
    where = address or "Google Cloud Storage"
    if isinstance(error, DefaultCredentialsError):
        return _NO_KEYS
    if isinstance(error, NotFound):
        return "there is no such bucket"
    if isinstance(error, Unauthorized | Forbidden):
        return _refused(error)
    if isinstance(error, GoogleAPICallError):
        return f"the store says {error.code}: {_message(error)}"
    if isinstance(error, requests.exceptions.SSLError):
        return f"the certificate of {where} is not trusted: give its authority by REQUESTS_CA_BUNDLE"
    if isinstance(error, requests.Timeout):
        return f"{where} did not answer in time"
    return f"no answer from {where} ({_cause(error)})" if isinstance(error, _PASSING) else str(error)


def _refused(error: GoogleAPICallError) -> str:
    right = _RIGHTS.get(str(getattr(getattr(error.response, "request", None), "method", "")), "")
    lacking = f"no permission{right} (the store says {error.code}: {_message(error)})"
    return lacking if right == _RIGHTS["GET"] else f"{lacking}; use keys that may write and delete, or another place"


def _message(error: GoogleAPICallError) -> str:
    """The store's own sentence. The client's text of a failed upload has the URL and the whole answer."""
    try:
        return str(error.response.json()["error"]["message"])
    except (AttributeError, ValueError, KeyError, TypeError):
        return str(error.message)


def _cause(error: BaseException) -> str:
    """The operating system's message, unwrapped from the libraries' exceptions."""
    while True:
        inner = getattr(error, "reason", None) or error.__cause__ or next(iter(error.args), None)
        if not isinstance(inner, BaseException):
            return str(error).rpartition("] ")[2]
        error = inner
