"""How busy a GPU is, by NVML: the library that comes with NVIDIA's driver, and that `nvidia-smi` asks too.

torch can ask it as well, but only through one more package.
"""

from __future__ import annotations

import ctypes
from typing import Any

import torch

LIBRARY = "libnvidia-ml.so.1"
EVERY_SECONDS = 1.0
"""The driver itself counts over a time between a sixth of a second and one."""


class _Utilization(ctypes.Structure):
    """In percent: of the time in which the GPU computed, and in which its memory was read or written."""

    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class GpuUse:
    """The mean of what is seen about once a second."""

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
        """0 to 1, since the last call; None where nothing was seen, as on a part of a GPU."""
        found = self._sum / self._looks / 100 if self._looks else None
        self._sum, self._looks = 0, 0
        return found


def gpu_use(device: torch.device) -> GpuUse | None:
    """None where the driver does not know the device by its name, or its library is not there."""
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
