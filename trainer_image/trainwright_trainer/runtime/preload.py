"""Early imports in the background. Importing torch takes seconds, in which Arrow's threads already read the data."""

from __future__ import annotations

import importlib
import os
import re
import threading
import time
from pathlib import Path

from trainwright_trainer.runtime.allocator import keep_memory_between_steps
from trainwright_trainer.runtime.collector import without_collections
from trainwright_trainer.runtime.cpus import usable_cpus

# Their packages import no module of their own: two threads that import a package and its module would wait for each
# other, and Python would give one of them half a module.
_MODULES = (
    "torch",
    "trainwright_trainer.models.model",
    "trainwright_trainer.loop.trainer",
    "trainwright_trainer.metrics.model",
)

# How often an idle thread of torch looks for work before it sleeps, on a busy machine. With libgomp's default, 300,000,
# an idle thread there takes the core from a thread that has work: a step with two threads takes up to fifteen times as
# long. On a free machine the default is faster by half. The result is the same. bench/README.md has the measurements.
BUSY_SPINS = "1000"
_SAMPLES = 5
_BETWEEN_SAMPLES_SECONDS = 0.004


def preload_imports() -> threading.Thread:
    """Import the modules of training in a background thread. A concurrent import of the same module waits for it.

    An error is ignored here: the import statement that needs the module raises it again.
    """
    if "OMP_WAIT_POLICY" not in os.environ and is_busy(others_running(), usable_cpus(), os.cpu_count() or 1):
        os.environ.setdefault("GOMP_SPINCOUNT", BUSY_SPINS)
    keep_memory_between_steps()
    thread = threading.Thread(target=_import_all, name="preload-imports", daemon=True)
    thread.start()
    return thread


def is_busy(running: int, usable: int, cpus: int) -> bool:
    """True if the `running` threads of others and ours, one per `usable` CPU, are more than the machine's `cpus`."""
    return running + usable > cpus


def others_running(stat: Path = Path("/proc/stat")) -> int:
    """The number of other threads on this machine that compute all the time: the least of some samples.

    Without Linux's /proc/stat the machine counts as busy: the number is that of all CPUs.
    """
    samples = []
    for _ in range(_SAMPLES):
        try:
            found = re.search(r"^procs_running (\d+)$", stat.read_text(), re.MULTILINE)
        except OSError:
            found = None
        samples.append(int(found[1]) - 1 if found else os.cpu_count() or 1)
        time.sleep(_BETWEEN_SAMPLES_SECONDS)
    return min(samples)


def _import_all() -> None:
    with without_collections():
        for module in _MODULES:
            try:
                importlib.import_module(module)
            except Exception:  # an import fails in many ways while the process ends
                return
