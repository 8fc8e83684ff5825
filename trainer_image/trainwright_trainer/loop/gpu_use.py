"""The utilisation of a GPU, from NVML: the library that comes with NVIDIA's driver, and that `nvidia-smi` uses too.

torch reads NVML too, but needs one more package for it.
"""

from __future__ import annotations

import ctypes
from typing import Any

import torch

LIBRARY = "libnvidia-ml.so.1"
EVERY_SECONDS = 1.0
"""The driver's own sampling period is between 1/6 s and 1 s."""


class _Utilization(ctypes.Structure):
    """The percentages of time in which the GPU computed (`gpu`) and accessed its memory (`memory`)."""

    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class GpuUse:
    """The mean of the GPU's utilisation, sampled about once a second."""

    def __init__(self, nvml: Any, handle: ctypes.c_void_p) -> None:
        self._nvml, self._handle = nvml, handle
        self._next, self._sum, self._looks = 0.0, 0, 0

    def look(self, now: float) -> None:
        if now < self._next:
            return
        self._next = now + EVERY_SECONDS
        found = _Utilization()
        if self._nvml.nvmlDeviceGetUtilizationRates(self._handle, ctypes.byref(found)) == 0:
            self._sum += found.gpu
            self._looks += 1

    def mean(self) -> float | None:
        """The mean since the last call, 0 to 1. None without samples: NVML gives none for a MIG instance."""
        found = self._sum / self._looks / 100 if self._looks else None
        self._sum, self._looks = 0, 0
        return found


def gpu_use(device: torch.device) -> GpuUse | None:
    """None if the NVML library is missing or does not know the device's UUID."""
    try:
        nvml = ctypes.CDLL(LIBRARY)
    except OSError:
        return None
    return of_gpu(nvml, f"GPU-{torch.cuda.get_device_properties(device).uuid}")


def of_gpu(nvml: Any, uuid: str) -> GpuUse | None:
    handle = ctypes.c_void_p()
    if nvml.nvmlInit_v2() != 0 or nvml.nvmlDeviceGetHandleByUUID(uuid.encode(), ctypes.byref(handle)) != 0:
        return None
    return GpuUse(nvml, handle)
