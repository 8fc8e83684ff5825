"""The GPU's utilisation from a fake NVML library, without a GPU."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from trainwright_trainer.loop.gpu_use import gpu_use, of_gpu

OK, NOT_SUPPORTED, NOT_FOUND = 0, 3, 6


def nvml(answers: int = OK) -> SimpleNamespace:
    """A driver that knows one GPU and reports a utilisation of 10, 20, 30, … percent."""
    percent = iter(range(10, 100, 10))

    def handle_by_uuid(uuid, handle) -> int:
        handle._obj.value = 4711
        return OK if uuid == b"GPU-5f3a" else NOT_FOUND

    def utilization(handle, found) -> int:
        assert handle.value == 4711
        found._obj.gpu = next(percent)
        return answers

    return SimpleNamespace(
        nvmlInit_v2=lambda: OK,
        nvmlDeviceGetHandleByUUID=handle_by_uuid,
        nvmlDeviceGetUtilizationRates=utilization,
    )


def test_it_is_looked_at_once_a_second_and_the_mean_is_reported():
    use = of_gpu(nvml(), "GPU-5f3a")
    for now in (100.0, 100.5, 100.9, 101.0, 102.5):
        use.look(now)
    assert use.mean() == pytest.approx(0.2)
    assert use.mean() is None, "of the time since the last call"
    use.look(104.0)
    assert use.mean() == pytest.approx(0.4)


def test_what_the_driver_does_not_show_is_not_made_up():
    use = of_gpu(nvml(NOT_SUPPORTED), "GPU-5f3a")
    use.look(1.0)
    assert use.mean() is None
    assert of_gpu(nvml(), "GPU-of a part") is None


def test_without_the_library_there_is_none(monkeypatch):
    monkeypatch.setattr("trainwright_trainer.loop.gpu_use.LIBRARY", "libof-nobody.so.1")
    assert gpu_use("cuda:0") is None
