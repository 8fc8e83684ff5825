from __future__ import annotations

from typing import Any

import pytest

from trainwright_operator.informer.workload import MESSAGE_CHARACTERS, Workload, read_workload

from ..owned import owned_by

OWNED = {"ownerReferences": owned_by("RayJob", "flights-1", "uid-1")}


def conditions(*told: tuple[str, str, str, str]) -> dict[str, Any]:
    names = ("type", "status", "reason", "message")
    return {"conditions": [dict(zip(names, one, strict=True)) for one in told]}


NO_QUOTA = ("QuotaReserved", "False", "Pending", "couldn't assign flavors:\n  1 more needed")
CHECKS = ("Admitted", "False", "NoChecks", "The workload has not passed all admission checks")
EVICTED = ("Evicted", "True", "PodsReadyTimeout", "Exceeded the PodsReady timeout")


@pytest.mark.parametrize(
    ("told", "words"),
    [
        ([NO_QUOTA], "couldn't assign flavors: 1 more needed"),
        ([("QuotaReserved", "True", "QuotaReserved", "reserved"), CHECKS], CHECKS[3]),
        ([("QuotaReserved", "False", "Pending", ""), ("Finished", "False", "", "no")], "Pending"),
        ([NO_QUOTA, EVICTED], f"{EVICTED[3]}; couldn't assign flavors: 1 more needed"),
        (
            [("Evicted", "False", "QuotaReserved", "Previously: gone"), NO_QUOTA],
            "couldn't assign flavors: 1 more needed",
        ),
        ([(kind, "False", "Inadmissible", "no queue a") for kind in ("QuotaReserved", "Admitted")], "no queue a"),
        ([("QuotaReserved", "False", "Pending", "x" * 900)], "x" * MESSAGE_CHARACTERS),
    ],
)
def test_it_tells_what_the_workload_waits_for(told: list[tuple[str, str, str, str]], words: str) -> None:
    found = read_workload({"metadata": OWNED, "status": conditions(*told)})
    assert found == Workload("RayJob", "flights-1", "uid-1", words)


@pytest.mark.parametrize(
    "raw",
    [
        {},
        {"metadata": OWNED},
        {"metadata": OWNED, "status": conditions(("Admitted", "True", "Admitted", "is admitted"))},
        {"metadata": {}, "status": conditions(NO_QUOTA)},
        {"metadata": OWNED, "status": {"conditions": "none"}},
    ],
)
def test_one_that_waits_for_nothing_is_not_kept(raw: dict[str, Any]) -> None:
    assert read_workload(raw) is None
