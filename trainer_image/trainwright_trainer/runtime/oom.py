"""Out-of-memory errors in their various forms. All mean that the machine is too small for the job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from trainwright_trainer.errors import EnvironmentFailure

_MEMORY = "out of memory. A smaller trainer.batch_size, a smaller model, or a machine with more memory helps."
_THREADS = "no further thread can be started: memory, or a limit on processes, is used up on this machine."


def out_of_memory(error: BaseException) -> bool:
    """True for a `MemoryError`, and for the `RuntimeError`s of torch, whose texts differ between CPU and GPU."""
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(word in str(error) for word in ("allocate memory", "out of memory"))


@contextmanager
def reporting_oom() -> Iterator[None]:
    """Turn an out-of-memory error, or a failed start of a thread, into an `EnvironmentFailure`."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if out_of_memory(error):
            raise EnvironmentFailure(_MEMORY) from error
        if "can't start new thread" in str(error):
            raise EnvironmentFailure(_THREADS) from error
        raise
