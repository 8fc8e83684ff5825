"""A proxy before the API server that does to requests what networks and overloaded servers do."""

from e2e.proxy.faults import (
    Answer,
    Close,
    Cut,
    Delay,
    Drop,
    Duplicate,
    Fault,
    Hang,
    Late,
    Reorder,
    Reset,
    Silence,
    Stale,
    StreamError,
    Truncate,
)
from e2e.proxy.rule import Rule
from e2e.proxy.server import Proxy

__all__ = [
    "Answer",
    "Close",
    "Cut",
    "Delay",
    "Drop",
    "Duplicate",
    "Fault",
    "Hang",
    "Late",
    "Proxy",
    "Reorder",
    "Reset",
    "Rule",
    "Silence",
    "Stale",
    "StreamError",
    "Truncate",
]
