"""For all tests, and the processes that they start: one thread each, for tiny data, on machines that others share."""

from __future__ import annotations

import os

# Read when torch is first imported, which no conftest above a test does before this line.
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
