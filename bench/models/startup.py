"""The libraries of texts and images are no part of the start of a tabular job."""

from __future__ import annotations

import tempfile
from pathlib import Path
from statistics import median

from bench.process import ROOT, measure, python
from bench.results import Result, result

ROUNDS = 5
LIBRARIES = ("torchvision", "transformers", "timm", "tokenizers", "PIL", "peft")
_TRAIN = """
import sys, trainwright
trainwright.train({job!r}, output={output!r}, quiet=True)
print(sum(name in sys.modules for name in {libraries!r}))
"""
_IMPORTS = "import trainwright_trainer.tasks.run, torch.optim"


def run() -> dict[str, Result]:
    with tempfile.TemporaryDirectory(prefix="trainwright-bench-") as folder:
        job = str(ROOT / "examples" / "small" / "small.yaml")
        code = _TRAIN.format(job=job, output=str(Path(folder, "out")), libraries=LIBRARIES)
        loaded = float(measure(python("-c", code)).output.split()[-1])
    times = [measure(python("-c", _IMPORTS)) for _ in range(ROUNDS)]
    return {
        "tabular job: libraries of texts and images": result(loaded, "imported", "= 0"),
        "tabular job: imports": result(median(one.cpu_seconds for one in times), "s of CPU time"),
    }
