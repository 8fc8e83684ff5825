"""Errors of the tests' client."""

from __future__ import annotations

import json
from typing import Any


class ApiError(Exception):
    """The API server refused the request. `code` is the HTTP status, `reason` is Kubernetes' reason."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(f"{code} {reason}: {message}")
        self.code, self.reason, self.message = code, reason, message

    @classmethod
    def from_body(cls, code: int, body: bytes) -> ApiError:
        try:
            status: dict[str, Any] = json.loads(body)
        except ValueError:
            return cls(code, "", body.decode(errors="replace"))
        return cls(code, status.get("reason", ""), status.get("message", ""))


class NotReached(AssertionError):
    """The state that a test waited for did not come in time."""
