"""The part of the Kubernetes client that the server uses."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol


class Api(Protocol):
    """A client of the Kubernetes API. Raises `trainwright_operator.kube.errors.ApiError`."""

    async def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        content_type: str = "application/json",
    ) -> dict[str, Any]: ...
