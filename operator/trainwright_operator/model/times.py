"""Times as the status writes them: RFC 3339, UTC, whole seconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def written(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read(text: str | None) -> datetime | None:
    """None for what is absent, and for what is no time: a hand may have written anything."""
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def after(time: datetime, seconds: float) -> datetime:
    """So much later. A time that a hand has written may lie at the edge of all times: what is beyond it is the edge."""
    try:
        return time + timedelta(seconds=seconds)
    except OverflowError:
        return (datetime.max if seconds > 0 else datetime.min).replace(tzinfo=UTC)
