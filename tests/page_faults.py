"""The page faults of steps, counted in a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys

_PROGRAM = """
import resource
{setup}
for _ in range({first}): step()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range({steps}): step()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""


def page_faults(setup: str, first: int, steps: int, **variables: str) -> int:
    """Those of `steps` calls of the function `step` that `setup` defines, after `first` calls.

    `variables` of the environment are set; no other chooses how glibc gets memory.
    """
    command = [sys.executable, "-c", _PROGRAM.format(setup=setup, first=first, steps=steps)]
    environment = {name: value for name, value in os.environ.items() if "MALLOC" not in name} | variables
    return int(subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout)
