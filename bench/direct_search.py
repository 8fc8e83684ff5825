"""The shortest search written directly with Ray Tune and the Python API: the program that bench/search.py measures.

python bench/direct_search.py JOB DATA OUTPUT TRIALS CONCURRENT
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Any

os.environ |= {
    "RAY_ADDRESS": "local",
    "RAY_CHDIR_TO_TRIAL_DIR": "0",
    "RAY_AIR_NEW_OUTPUT": "0",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",  # below `uv run` Ray would start its workers with another Python
}

from ray import tune
from ruamel.yaml import YAML

import trainwright


def trial(config: dict[str, Any], job: dict[str, Any], data: str, output: str, folder: str) -> None:
    """Train once, and report the validation score of the last round."""
    os.chdir(folder)
    job["spec"]["config"]["trainer"]["learning_rate"] = config["rate"]
    name = tune.get_context().get_trial_id()
    result = trainwright.train(job, dataset=data, output=f"{output}/{name}", backend="local", threads=1)
    tune.report({"score": result.history[-1].scores["validation"]["y"]["roc_auc"]})


def main(path: str, data: str, output: str, trials: str, concurrent: str) -> None:
    job = YAML(typ="safe").load(Path(path))
    job["spec"]["task"] = "train"
    del job["spec"]["config"]["hyperopt"]
    found = tune.Tuner(
        tune.with_resources(
            tune.with_parameters(trial, job=job, data=data, output=output, folder=os.getcwd()), {"cpu": 1}
        ),
        param_space={"rate": tune.loguniform(0.0003, 0.003)},
        tune_config=tune.TuneConfig(
            metric="score",
            mode="max",
            num_samples=int(trials),
            max_concurrent_trials=int(concurrent),
            reuse_actors=True,
        ),
        run_config=tune.RunConfig(storage_path=str(Path(output).absolute()), verbose=0),
    ).fit()
    best = found.get_best_result().metrics or {}
    print(f"best score {best['score']:.4f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
