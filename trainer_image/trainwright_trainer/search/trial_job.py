"""The job of one trial: the job of the search with the trial's values, and without the section of the search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.config.hyperopt.substitution import substituted
from trainwright_api.yaml.rewrite import dumped

MOST_LETTERS_OF_A_NAME = 50


def trial_job(job: Mapping[str, Any], name: str, trial: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """The whole resource of a trial. `job`: the resource of the search as plain data; `name`: its name."""
    spec = job["spec"]
    config = {key: value for key, value in spec["config"].items() if key != "hyperopt"}
    return {
        "apiVersion": job["apiVersion"],
        "kind": job["kind"],
        "metadata": {"name": f"{name[:MOST_LETTERS_OF_A_NAME].rstrip('-.')}-{trial}"},
        "spec": {**spec, "task": "train", "config": substituted(config, values)},
    }


def trial_text(job: Mapping[str, Any]) -> str:
    """The text of a trial's job.yaml."""
    return dumped(job)
