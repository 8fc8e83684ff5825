"""Times in the format of the status: RFC 3339, UTC, whole seconds."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta


def written(time: datetime) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def read(text: str | None) -> datetime | None:
    """Return the time, or None for an absent or invalid text."""
    if not text:
        return None
    try:
        time = datetime.fromisoformat(text)
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def after(time: datetime, seconds: float) -> datetime:
    return time + timedelta(seconds=seconds)
