"""The slow server of S3 answers as a fast one does, and is gone afterwards."""

from __future__ import annotations

import os
import time
from pathlib import Path

import torch
from bench.data import epoch, made, prepared
from bench.slow_store import DELAY_SECONDS, slow_store


def test_it_serves_the_columns_of_a_cache_and_each_request_is_late(tmp_path: Path) -> None:
    before = dict(os.environ)
    with slow_store() as bucket:
        held, stored = prepared(1000, tmp_path, f"{bucket}/cache")
        start = time.monotonic()
        found = [batch.floats for batch in epoch(made(stored, 1000), 300)]
        assert time.monotonic() - start > DELAY_SECONDS
    assert torch.equal(torch.cat(found), torch.cat([batch.floats for batch in epoch(made(held, 1000), 300)]))
    assert dict(os.environ) == before
