"""What runs in the pods and on a laptop: from a TrainingJob to a trained model.

from trainwright_trainer import train

result = train("flights.yaml", output="out", overwrite=True)
print(result.test["late"]["roc_auc"], result.model)
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainwright_trainer.options import Options

if TYPE_CHECKING:
    from trainwright_trainer.result import Result


def train(
    job: str | Path | Mapping[str, Any],
    *,
    dataset: str | Path | None = None,
    output: str | Path | None = None,
    backend: str | None = None,
    seed: int | None = None,
    resume: bool = False,
    overwrite: bool = False,
    quiet: bool = False,
) -> Result:
    """`trainwright train` from Python. `job` is a file, or what would stand in it.

    Raises `Mistakes` for what is wrong in the job or the data, `EnvironmentFailure` for what is wrong with the machine,
    `StoppedRun` after a signal, and `AlreadyDone` where there is nothing left to train.
    """
    from trainwright_trainer.result import Told
    from trainwright_trainer.run import run
    from trainwright_trainer.screen import Screen

    data, folder = (None if place is None else str(place) for place in (dataset, output))
    options = Options(data, folder, backend, seed, resume, overwrite)
    path = Path("job.json") if isinstance(job, Mapping) else Path(job)
    text = json.dumps(job, default=str) if isinstance(job, Mapping) else None
    result = run("train", path, options, text=text, screen=Screen(quiet=quiet))
    assert not isinstance(result, Told)
    return result
