"""The names of a run folder, all of them: docs/run-directory.md in code. Relative to the run, parts joined by `/`."""

from __future__ import annotations

import re
from dataclasses import dataclass

FORMAT = 1

JOB = "job.yaml"
RESOLVED = "resolved.json"
METRICS = "metrics.json"
REPORT = "report.html"
MODEL = "model/"
LOGS = "logs/"
ATTEMPTS = "attempts/"
CHECKPOINTS = "checkpoints/"

# What all attempts share, in the order in which it is taken away.
SHARED = (MODEL, METRICS, REPORT, RESOLVED, JOB, LOGS)

# What `evaluate`, `predict` and `experiment` leave beside a run, or where one may begin later.
BESIDE = ("evaluation.html", "evaluation.json", "predictions.parquet", "test_predictions.parquet")

_CHECKPOINT = re.compile(r"(\d{10,})-([1-9]\d*)")
_NUMBER = re.compile(r"[1-9]\d*")


@dataclass(frozen=True, order=True)
class CheckpointName:
    """`<step as 10 digits>-<attempt>`; ordered from old to new."""

    step: int
    attempt: int

    def __str__(self) -> str:
        return f"{self.step:010d}-{self.attempt}"

    @property
    def folder(self) -> str:
        return f"{CHECKPOINTS}{self}/"

    @property
    def manifest(self) -> str:
        return f"{self.folder}manifest.json"

    @classmethod
    def parse(cls, text: str) -> CheckpointName | None:
        """None where `text` is no checkpoint's name: such a folder is not ours."""
        found = _CHECKPOINT.fullmatch(text)
        return cls(int(found[1]), int(found[2])) if found else None


def attempt_number(text: str) -> int | None:
    """The number that a name under `attempts/` stands for, if it does."""
    return int(text) if _NUMBER.fullmatch(text) else None


def attempt_folder(number: int) -> str:
    return f"{ATTEMPTS}{number}/"


def start(number: int) -> str:
    return f"{attempt_folder(number)}start.json"


def outcome(number: int) -> str:
    return f"{attempt_folder(number)}outcome.json"


def attempt_logs(number: int) -> str:
    return f"{LOGS}attempt-{number}/"
