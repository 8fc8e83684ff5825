"""The order of the calls to a GPU, which is faked here. `tests/gpu` has the tests on a real one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch

from trainwright_trainer.loader import gpu
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.device import copied_ahead, held_on
from trainwright_trainer.loader.encoded_rows import EncodedRows

GPU = torch.device("cuda")


def batch(number: int) -> Batch:
    return Batch(torch.full((2, 1), float(number)), torch.zeros((2, 0), dtype=torch.int64), np.arange(2))


class Stream:
    def __init__(self, name: str, calls: list[str]) -> None:
        self.name, self._calls, self._events = name, calls, 0

    def record_event(self) -> str:
        self._events += 1
        return f"event {self._events}"

    def wait_event(self, event: str) -> None:
        self._calls.append(f"{self.name} waits for {event}")


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The calls in their order. The streams are named copies and steps."""
    gpu.stream_of_copies.cache_clear()
    found: list[str] = []
    current: list[str] = []

    @contextmanager
    def stream(one: Stream) -> Iterator[None]:
        current.append(one.name)
        yield
        current.pop()

    def on(self: Batch, _: torch.device) -> Batch:
        found.append(f"batch {self.floats[0, 0]:g} in {current}")
        return self

    monkeypatch.setattr(torch.cuda, "Stream", lambda _: Stream("copies", found))
    monkeypatch.setattr(torch.cuda, "current_stream", lambda _: Stream("steps", found))
    monkeypatch.setattr(torch.cuda, "stream", stream)
    monkeypatch.setattr(Batch, "on", on)
    monkeypatch.setattr(Batch, "used_in", lambda _, one: found.append(f"used in {one.name}"))
    yield found
    gpu.stream_of_copies.cache_clear()


def test_a_step_waits_for_its_copy_which_has_a_stream_of_its_own(calls: list[str]) -> None:
    found = [one.floats[0, 0].item() for one in copied_ahead(map(batch, range(4)), GPU)]
    assert found == [0, 1, 2, 3]
    copies = [call for call in calls if call.startswith("batch")]
    assert copies == [f"batch {number} in ['copies']" for number in range(4)]
    steps = [call for call in calls if not call.startswith("batch")]
    assert steps == [call for number in range(1, 5) for call in (f"steps waits for event {number}", "used in steps")]


def test_each_pass_copies_in_the_same_stream(calls: list[str]) -> None:
    for _ in range(2):
        assert len(list(copied_ahead(iter([batch(0)]), GPU))) == 1
    assert [call for call in calls if "waits" in call] == ["steps waits for event 1", "steps waits for event 2"]


def test_an_error_of_the_loader_comes_in_its_place(calls: list[str]) -> None:
    def batches() -> Iterator[Batch]:
        yield batch(0)
        raise ValueError("broken")

    found = copied_ahead(batches(), GPU)
    assert next(found).floats[0, 0] == 0
    with pytest.raises(ValueError, match="broken"):
        next(found)
    assert calls


@pytest.mark.parametrize("device", [None, torch.device("cpu")])
def test_batches_for_a_cpu_stay_as_they_are(device: torch.device | None) -> None:
    given: Any = iter([batch(0)])
    assert copied_ahead(given, device) is given


def test_rows_have_room_in_a_quarter_of_the_free_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "mem_get_info", lambda _: (400, 1000))
    assert gpu.has_room(GPU, 100)
    assert not gpu.has_room(GPU, 101)


def test_rows_without_room_stay_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = EncodedRows(torch.zeros(10, 2), torch.zeros((10, 1), dtype=torch.int64), np.arange(10))
    asked: list[int] = []
    monkeypatch.setattr("trainwright_trainer.loader.device.has_room", lambda _, size: asked.append(size))
    assert held_on(GPU, [rows, rows]) == [rows, rows]
    assert asked == [2 * 10 * (2 * 4 + 8)]
