"""What can go wrong between the operator and the API server."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

SHOWN_LIMIT = 500
"""Of an answer that is no JSON so many characters are shown."""


class ApiError(Exception):
    """The API server refused a request, or could not be asked."""

    def __init__(self, status: int, reason: str, message: str, retry_after: float | None = None) -> None:
        super().__init__(f"{status} {reason}: {message}" if status else f"{reason}: {message}")
        self.status = status
        """HTTP's. 0 where there was no answer."""
        self.reason = reason
        """One word, Kubernetes' own where it gave one, as in AlreadyExists."""
        self.message = message
        self.retry_after = retry_after
        """Seconds that the API server asks to wait for."""

    @property
    def not_found(self) -> bool:
        return self.status == 404

    @property
    def already_exists(self) -> bool:
        return self.status == 409 and self.reason == "AlreadyExists"

    @property
    def conflict(self) -> bool:
        """The object is not what the request said it is: another resourceVersion or uid, or another field owner."""
        return self.status == 409 and self.reason != "AlreadyExists"

    @property
    def gone(self) -> bool:
        """The resourceVersion or the continue token is too old."""
        return self.status == 410

    @property
    def invalid(self) -> bool:
        return self.status == 422

    @property
    def too_many(self) -> bool:
        return self.status == 429

    @property
    def overloaded(self) -> bool:
        """It passes by itself: what was asked for is right."""
        return self.too_many or self.status == 503

    @property
    def forbidden(self) -> bool:
        return self.status in (401, 403)


class Gone(ApiError):
    """A watch or a list cannot go on from where it was: everything has to be listed anew."""


class Unreachable(ApiError):
    """No answer, or none that can be read. Whether the request had an effect is not known."""

    def __init__(self, message: str) -> None:
        super().__init__(0, "Unreachable", message)


def of_answer(status: int, phrase: str, body: bytes, retry_after: str | None) -> ApiError:
    """The error of an answer with an HTTP status of 400 or more."""
    told = _told(body)
    reason, message = told.get("reason"), told.get("message")
    return _error(
        status,
        reason if isinstance(reason, str) and reason else phrase,
        message if isinstance(message, str) else body.decode(errors="replace")[:SHOWN_LIMIT],
        _seconds(retry_after) or _details(told),
    )


def of_status(told: Mapping[str, Any]) -> ApiError:
    """The error of a `Status` object, as a watch brings it in its stream."""
    code = told.get("code")
    status = code if isinstance(code, int) else 500
    return _error(status, str(told.get("reason") or "Unknown"), str(told.get("message") or ""), _details(told))


def _error(status: int, reason: str, message: str, retry_after: float | None) -> ApiError:
    kind = Gone if status == 410 else ApiError
    return kind(status, reason, message, retry_after)


def _told(body: bytes) -> Mapping[str, Any]:
    try:
        told = json.loads(body)
    except ValueError:
        return {}
    return told if isinstance(told, dict) else {}


def _details(told: Mapping[str, Any]) -> float | None:
    details = told.get("details")
    seconds = details.get("retryAfterSeconds") if isinstance(details, dict) else None
    return float(seconds) if isinstance(seconds, int) and seconds > 0 else None


def _seconds(header: str | None) -> float | None:
    """Of a header Retry-After; the API server gives seconds, never a date."""
    return float(header) if header is not None and header.isdecimal() else None
