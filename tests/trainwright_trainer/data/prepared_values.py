"""What tests of preprocessing compare: all that training reads, and the entries of a cache."""

from __future__ import annotations

import json
from datetime import datetime

MADE = datetime(2024, 1, 1)


def plain(prepared):
    """All data that training reads, as plain Python values."""
    return (
        prepared.splits.tolist(),
        {name: column.to_pylist() for name, column in prepared.columns.items()},
        json.dumps(prepared.statistics),
        prepared.notices,
    )


def entries_of(folder, kind):
    return sorted((path.name, path.stat().st_ino) for path in (folder / ".trainwright_cache" / kind).iterdir())
