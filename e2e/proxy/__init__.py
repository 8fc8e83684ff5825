"""A proxy in front of the API server that injects the faults of networks and overloaded servers."""

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
