"""A proxy in front of the API server that injects the faults of networks and overloaded servers."""

from testkit.proxy.faults import (
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
    Rule,
    Silence,
    Stale,
    StreamError,
    Truncate,
)
from testkit.proxy.server import Proxy

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
