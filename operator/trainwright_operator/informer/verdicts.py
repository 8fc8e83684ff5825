"""The validation result of each job's spec, computed once for every version of the spec."""

from __future__ import annotations

from collections import OrderedDict

from trainwright_api.checks import cluster
from trainwright_operator.model.observed import Manifest, Verdict


class Verdicts:
    """A cache of the newest `size` verdicts, by uid and generation."""

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
    return Verdict(judged.spec, judged.digest, judged.message, tuple(judged.warnings))
