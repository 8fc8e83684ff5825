"""Folding in a thread, with a faked GPU. `tests/gpu` has the tests on a real one."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest
import torch

from trainwright_trainer.metrics import base, binary, folding
from trainwright_trainer.metrics.folding import Folding
from trainwright_trainer.metrics.model import ModelMetrics
from trainwright_trainer.metrics.stored_rows import Rows


class Event:
    """A CUDA event that happens when the test says so."""

    def __init__(self) -> None:
        self.happened = threading.Event()

    def synchronize(self) -> None:
        assert self.happened.wait(60)


@pytest.fixture
def arrived(monkeypatch: pytest.MonkeyPatch) -> Event:
    """The event after each copy from a GPU."""
    event = Event()
    monkeypatch.setattr(folding, "_copied", lambda given: (tuple(map(torch.clone, given)), event.synchronize))
    return event


def test_a_core_is_free_if_the_steps_have_fewer_threads_than_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(torch, "get_num_threads", lambda: 1)
    assert folding.is_core_free()
    monkeypatch.setattr(torch, "get_num_threads", lambda: 2)
    assert not folding.is_core_free()


def rows(number: int) -> Rows:
    values = torch.full((3,), float(number))
    return values, values, values


def test_rows_are_folded_in_their_order_once_they_have_arrived(arrived: Event) -> None:
    found: list[float] = []
    given, work = rows(0), Folding()
    for number in range(3):
        given[0].fill_(number)
        work.start(given, lambda each: found.append(each[0][0].item()))
    assert found == []
    arrived.happened.set()
    work.finish()
    assert found == [0, 1, 2]


def test_few_groups_wait_and_then_the_step_does(arrived: Event) -> None:
    work, started = Folding(), []

    def steps() -> None:
        for number in range(9):
            work.start(rows(number), lambda _: None)
            started.append(number)

    thread = threading.Thread(target=steps)
    thread.start()
    thread.join(0.5)
    assert len(started) == 4
    arrived.happened.set()
    thread.join(60)
    assert len(started) == 9


def test_an_error_of_a_fold_is_raised(arrived: Event) -> None:
    arrived.happened.set()
    work = Folding()
    work.start(rows(0), lambda _: 1 / 0)  # type: ignore[arg-type,return-value]
    with pytest.raises(ZeroDivisionError):
        work.finish()


@pytest.mark.parametrize("type_", ["binary", "number"])
def test_a_state_that_is_folded_in_the_thread_is_the_same(
    make: Callable[..., ModelMetrics],
    feed: Callable[..., None],
    type_: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(base, "FOLDED_TOGETHER", 12)
    monkeypatch.setattr(binary, "MOST_KEPT", 20)
    monkeypatch.setattr(base, "is_core_free", lambda: False)
    logits, targets = torch.randn(40), (torch.rand(40) < 0.5).float()
    plain, threaded = make(type_, running=True), make(type_, running=True)
    for start in range(0, 40, 4):
        feed(plain, logits[start : start + 4], targets[start : start + 4])
        with monkeypatch.context() as fake:
            fake.setattr(base, "is_core_free", lambda: True)
            feed(threaded, logits[start : start + 4], targets[start : start + 4])
        assert threaded.outputs["y"].rows == plain.outputs["y"].rows
    assert threaded.compute() == plain.compute()
    assert {name: tensor.tolist() for name, tensor in threaded.tensors().items()} == {
        name: tensor.tolist() for name, tensor in plain.tensors().items()
    }
