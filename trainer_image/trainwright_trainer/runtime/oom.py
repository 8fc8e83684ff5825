"""Running out of memory, which comes in many words and is one thing: the machine is too small for the job."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from trainwright_trainer.errors import EnvironmentFailure

_MEMORY = "out of memory. A smaller trainer.batch_size, a smaller model, or a machine with more memory helps."
_THREADS = "no further thread can be started: memory, or a limit on processes, is used up on this machine."


def out_of_memory(error: BaseException) -> bool:
    """Python has a class for it; torch says it in a RuntimeError, in one way on CPUs and in another on GPUs."""
    if isinstance(error, MemoryError):
        return True
    return isinstance(error, RuntimeError) and any(word in str(error) for word in ("allocate memory", "out of memory"))


@contextmanager
def reporting_oom() -> Iterator[None]:
    """Turns running out of memory, or of threads, into an `EnvironmentFailure`."""
    try:
        yield
    except (MemoryError, RuntimeError) as error:
        if out_of_memory(error):
            raise EnvironmentFailure(_MEMORY) from error
        if "can't start new thread" in str(error):
            raise EnvironmentFailure(_THREADS) from error
        raise
