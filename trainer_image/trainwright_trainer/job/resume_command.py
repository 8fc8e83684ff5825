"""The command that goes on with a run or a search, for the last line of one that was stopped."""

from __future__ import annotations

import shlex

from trainwright_trainer.job.job import Job

_OPTIONS = ("dataset", "cache_dir", "backend", "seed", "threads", "gpus")


def resume_command(job: Job) -> str:
    """The command line with the options that the job was given. A URL has no query in it, which may contain a key."""
    options = {name: getattr(job.options, name) for name in _OPTIONS}
    options["dataset"] = options["dataset"] and job.shown_dataset
    given = [word for name, value in options.items() if value is not None for word in (_flag(name), str(value))]
    given += ["--lenient"] if job.options.lenient else []
    words = ["trainwright", job.task, str(job.path), *given, "--output", str(job.output), "--resume"]
    return " ".join([job.launcher, "…", shlex.join(words)] if job.launcher else [shlex.join(words)])


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
