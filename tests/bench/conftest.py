"""`python -m bench` finds the benchmarks in the working folder; they are no part of the distribution. So here."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
