"""Logs on stderr, one JSON object per line: time, level, message, and the job and attempt concerned."""

from __future__ import annotations

import json
import logging
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from typing import Any, TextIO

# kopf logs every step at INFO, and aiohttp logs every request. The kubeconfig loader also raises what it warns
# about.
_QUIET = {
    "kopf": logging.WARNING,
    "aiohttp.access": logging.WARNING,
    "asyncio": logging.WARNING,
    "kubernetes.aio.config": logging.ERROR,
}

_about: ContextVar[Mapping[str, Any]] = ContextVar("about", default={})  # noqa: B039  # never changed in place


@contextmanager
def about(job: tuple[str, str], attempt: int | None = None) -> Iterator[None]:
    """Add this job (namespace, name) and this attempt to the log lines of the block."""
    fields: dict[str, Any] = {"job": "/".join(job)}
    if attempt is not None:
        fields["attempt"] = attempt
    before = _about.set(fields)
    try:
        yield
    finally:
        _about.reset(before)


class JsonFormatter(logging.Formatter):
    """Formats a record of any logger, kopf's and aiohttp's included, as one line."""

    def format(self, record: logging.LogRecord) -> str:
        line = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "message": record.getMessage(),
            "logger": record.name,
            **(_kopfs_object(record) or _about.get()),
        }
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line, ensure_ascii=False, default=str)


def _kopfs_object(record: logging.LogRecord) -> Mapping[str, Any]:
    """Return the job of a record from kopf, which attaches a reference to the object."""
    reference = getattr(record, "k8s_ref", None) or {}
    return {"job": f"{reference.get('namespace')}/{reference['name']}"} if reference.get("name") else {}


def configure(stream: TextIO | None = None) -> None:
    """Make all loggers of the process write JSON lines to `stream` (default: stderr)."""
    handler = logging.StreamHandler(sys.stderr if stream is None else stream)
    handler.setFormatter(JsonFormatter())
    logging.basicConfig(handlers=[handler], level=logging.INFO, force=True)
    logging.captureWarnings(True)
    for name, level in _QUIET.items():
        logging.getLogger(name).setLevel(level)
