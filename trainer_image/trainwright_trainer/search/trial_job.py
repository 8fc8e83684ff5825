"""The job of one trial: the job of the search with the trial's values, and without the section of the search."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.config.hyperopt.substitution import substituted
from trainwright_api.resource.backend import idle_sections
from trainwright_api.yaml.rewrite import dumped

MAX_CHARACTERS_OF_A_NAME = 50


def trial_job(
    job: Mapping[str, Any],
    name: str,
    trial: str,
    values: Mapping[str, Any],
    backend: str,
    resume_from: str | None = None,
) -> dict[str, Any]:
    """The whole resource of a trial. `job`: the resource of the search as plain data; `name`: its name.

    `backend`: that of a trial. For one process it is local, wherever the search runs. `resume_from`: the checkpoint of
    another trial that it begins with; None: it begins as the job says.
    """
    spec = {**job["spec"], "resumeFrom": resume_from} if resume_from else job["spec"]
    config = {key: value for key, value in spec["config"].items() if key != "hyperopt"}
    return {
        "apiVersion": job["apiVersion"],
        "kind": job["kind"],
        "metadata": {"name": f"{name[:MAX_CHARACTERS_OF_A_NAME].rstrip('-.')}-{trial}"},
        "spec": {
            **spec,
            "task": "train",
            "config": substituted(config, values),
            "backend": _on_backend(spec.get("backend") or {}, backend),
        },
    }


def _on_backend(section: Mapping[str, Any], backend: str) -> dict[str, Any]:
    """The section backend of a trial, without the parts that do not act with its type."""
    idle = idle_sections(section, backend)
    return {**{key: value for key, value in section.items() if key not in idle}, "type": backend}


def trial_text(job: Mapping[str, Any]) -> str:
    """The text of a trial's job.yaml."""
    return dumped(job)
