"""The errors of requests to the API server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

SHOWN_LIMIT = 500
"""The number of characters of a non-JSON response that a message shows."""


class ApiError(Exception):
    """The API server refused a request or could not be reached."""

    def __init__(self, status: int, reason: str, message: str, retry_after: float | None = None) -> None:
        super().__init__(f"{status} {reason}: {message}" if status else f"{reason}: {message}")
        self.status = status
        """The HTTP status. 0 if there was no response."""
        self.reason = reason
        """One word, such as AlreadyExists: Kubernetes' reason if it gave one, else the HTTP phrase."""
        self.message = message
        self.retry_after = retry_after
        """Seconds to wait before a retry, as the API server requests."""

    @property
    def not_found(self) -> bool:
        return self.status == 404

    @property
    def already_exists(self) -> bool:
        return self.status == 409 and self.reason == "AlreadyExists"

    @property
    def conflict(self) -> bool:
        """True if the object has another resourceVersion or uid than the request says, or another field owner."""
        return self.status == 409 and self.reason != "AlreadyExists"

    @property
    def gone(self) -> bool:
        """True if the resourceVersion or the continue token is too old."""
        return self.status == 410

    @property
    def invalid(self) -> bool:
        return self.status == 422

    @property
    def too_many(self) -> bool:
        return self.status == 429

    @property
    def overloaded(self) -> bool:
        """True if the request is valid and the error is temporary."""
        return self.too_many or self.status == 503


class Gone(ApiError):
    """A watch or a list cannot continue: the client has to list again."""


class Unreachable(ApiError):
    """There is no response, or it cannot be read. It is unknown if the request had an effect."""

    def __init__(self, message: str) -> None:
        super().__init__(0, "Unreachable", message)


def of_answer(status: int, phrase: str, body: bytes, retry_after: str | None) -> ApiError:
    """Return the error for a response with an HTTP status of 400 or more."""
    answer = _parsed(body)
    reason, message = answer.get("reason"), answer.get("message")
    return _error(
        status,
        reason if isinstance(reason, str) and reason else phrase,
        message if isinstance(message, str) else body.decode(errors="replace")[:SHOWN_LIMIT],
        _seconds(retry_after) or _details(answer),
    )


def of_status(found: Mapping[str, Any]) -> ApiError:
    """Return the error for a `Status` object, which a watch sends in its stream."""
    code = found.get("code")
    status = code if isinstance(code, int) else 500
    return _error(status, str(found.get("reason") or "Unknown"), str(found.get("message") or ""), _details(found))


def _error(status: int, reason: str, message: str, retry_after: float | None) -> ApiError:
    kind = Gone if status == 410 else ApiError
    return kind(status, reason, message, retry_after)


def _parsed(body: bytes) -> Mapping[str, Any]:
    try:
        status = json.loads(body)
    except ValueError:
        return {}
    return status if isinstance(status, dict) else {}


def _details(status: Mapping[str, Any]) -> float | None:
    details = status.get("details")
    seconds = details.get("retryAfterSeconds") if isinstance(details, dict) else None
    return float(seconds) if isinstance(seconds, int) and seconds > 0 else None


def _seconds(header: str | None) -> float | None:
    """Return the seconds of a Retry-After header. The API server sends seconds, never a date."""
    return float(header) if header is not None and header.isdecimal() else None
