from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

from trainwright_operator.model import times


def test_times_are_written_in_utc_and_whole_seconds_and_read_back() -> None:
    moment = datetime(2026, 11, 21, 13, 0, 5, 999_999, timezone(timedelta(hours=1)))
    assert times.written(moment) == "2026-11-21T12:00:05Z"
    assert times.read("2026-11-21T12:00:05Z") == datetime(2026, 11, 21, 12, 0, 5, tzinfo=UTC)
    assert times.read("2026-11-21T12:00:05.25+01:00") == datetime(2026, 11, 21, 11, 0, 5, 250_000, tzinfo=UTC)


def test_what_is_no_time_is_none() -> None:
    assert [times.read(text) for text in (None, "", "soon", "2026-13-01T00:00:00Z")] == [None] * 4
