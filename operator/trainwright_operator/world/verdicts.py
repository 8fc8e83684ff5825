"""What the contract says of each job's spec, found out once for every version of it."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from trainwright_api import cluster
from trainwright_operator.observed import Manifest, Verdict

FIXED = (
    "task",
    "dataset",
    "config",
    "model",
    "entrypoint",
    "resumeFrom",
    "backend",
    "output",
    "seed",
    "checkpoint",
)
"""The keys of a spec that are fixed once a job has started."""


class Verdicts:
    """Remembers the newest `size` verdicts by uid and generation."""

    def __init__(self, size: int = 1024) -> None:
        self._size = size
        self._known: OrderedDict[tuple[str, int], Verdict] = OrderedDict()

    def of(self, raw: Manifest) -> Verdict:
        key = (raw["metadata"]["uid"], raw["metadata"].get("generation", 0))
        verdict = self._known.pop(key, None) or judge(raw)
        self._known[key] = verdict
        if len(self._known) > self._size:
            self._known.popitem(last=False)
        return verdict


def judge(raw: Manifest) -> Verdict:
    judged = cluster.judge(raw)
    return Verdict(judged.spec, digest(raw.get("spec")), judged.message, tuple(judged.warnings))


def digest(spec: Any) -> str:
    """The hash of what is fixed, as it is written: a key that was renamed changes it, whether or not it is known."""
    written = spec if isinstance(spec, Mapping) else {}
    fixed = {key: written[key] for key in FIXED if key in written}
    text = json.dumps(fixed, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()
