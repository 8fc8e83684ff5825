from __future__ import annotations

import pyarrow as pa
import pytest
import torch

from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.runtime.oom import reporting_oom


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        pa.ArrowMemoryError("malloc of size 64 failed"),
        torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB"),
        RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
    ],
)
def test_every_way_to_say_it_becomes_one_line(error):
    with pytest.raises(EnvironmentFailure, match=r"^out of memory\. A smaller trainer\.batch_size"), reporting_oom():
        raise error


def test_a_thread_that_cannot_start_is_the_machines_fault():
    with pytest.raises(EnvironmentFailure, match="no further thread"), reporting_oom():
        raise RuntimeError("can't start new thread")


def test_other_errors_stay():
    with pytest.raises(RuntimeError, match="shapes"), reporting_oom():
        raise RuntimeError("shapes do not match")
