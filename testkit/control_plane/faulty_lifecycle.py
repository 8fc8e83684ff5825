"""Runs a lifecycle through a proxy with faults, and compares it with the same lifecycle without faults."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from testkit.control_plane import crashes
from testkit.control_plane.crashes import complaints
from testkit.harness import FAST, Kind, Lifecycle, LifecycleResult, run_lifecycle
from testkit.proxy import Proxy, Rule
from trainwright_operator.settings import Settings

REQUESTS_TO_START = 100
REQUESTS_A_SECOND = 25
"""Far above the rate of a disturbed lifecycle, and far below that of a hot loop."""

_CALM: dict[tuple[Path, str, Kind], Any] = {}


@dataclass(frozen=True)
class FaultScenario:
    name: str
    rules: Sequence[Rule]
    settings: Settings = field(default=FAST)


async def calm(kubeconfig: Path, lifecycle: Lifecycle, kind: Kind) -> Any:
    """The end state of the undisturbed lifecycle."""
    key = (kubeconfig, lifecycle.name, kind)
    if key not in _CALM:
        _CALM[key] = (await crashes.calm(kubeconfig, lifecycle, kind)).state
    return _CALM[key]


async def survives(
    kubeconfig: Path, folder: Path, fault: FaultScenario, lifecycle: Lifecycle, kind: Kind, seed: int = 1
) -> None:
    """Check that the faults do not change the end state of the lifecycle."""
    undisturbed = await calm(kubeconfig, lifecycle, kind)
    async with Proxy(kubeconfig, folder, seed) as proxy:
        # The rules count matches, so every lifecycle needs its own copies.
        rules = [replace(rule) for rule in fault.rules]
        proxy.add(*rules)
        settings = _merged(lifecycle.settings, fault.settings)
        result = await run_lifecycle(kubeconfig, replace(lifecycle, settings=settings), kind, operator=proxy.kubeconfig)
        assert any(rule.hits for rule in rules), f"nothing was disturbed: {rules}"
        assert_same(result, undisturbed, proxy)


def assert_same(result: LifecycleResult, undisturbed: Any, proxy: Proxy) -> None:
    wrong = complaints(result, undisturbed)
    assert not wrong, "\n".join(wrong)
    sent = proxy.sendings.all
    limit = REQUESTS_TO_START + REQUESTS_A_SECOND * (sent[-1].time - sent[0].time)
    assert len(sent) < limit, f"a hot loop: {proxy.sendings.counts}"


def _merged(of_life: Settings, of_fault: Settings) -> Settings:
    """The lifecycle's own stop_grace stays."""
    return replace(of_fault, stop_grace=of_life.stop_grace)


def tracebacks(caplog: pytest.LogCaptureFixture) -> list[str]:
    """The bugs that the operator has logged about itself."""
    found = [record for record in caplog.records if record.exc_info is not None or record.levelno >= logging.ERROR]
    return [caplog.handler.format(record) for record in found]
