"""All names in a run folder, as docs/run-directory.md defines them: relative to the run, with parts joined by `/`."""

from __future__ import annotations

import re
from dataclasses import dataclass

# 1: before the outputs had a start, whose buffers are in the weights. 2: before each parameter was drawn from its name.
# 3: before each rank wrote its own blocks. 4: today's.
FORMAT = 4

JOB = "job.yaml"
RESOLVED = "resolved.json"
METRICS = "metrics.json"
REPORT = "report.html"
MODEL = "model/"
LOGS = "logs/"
ATTEMPTS = "attempts/"
CHECKPOINTS = "checkpoints/"
# Of a user's own train function: its reports, and the folder that Ray Train writes its checkpoints to.
REPORTS = "reports.json"
RAY_TRAIN = "ray_train/"

# The files that all attempts share, in the order in which they are deleted.
SHARED = (MODEL, METRICS, REPORT, RESOLVED, REPORTS, RAY_TRAIN, JOB, LOGS)

# `evaluate`, `predict` and `experiment` write these beside a run, or into a folder where a run may start later.
BESIDE = ("evaluation.html", "evaluation.json", "predictions.parquet", "test_predictions.parquet")

# `export` writes some of these files into the folder of its format, if it is given no other.
EXPORT = "export/"
EXPORT_FORMATS = ("onnx", "torch_export", "safetensors")
EXPORT_FILES = (
    *("model.onnx", "model.onnx.data", "model.pt2", "transform.json"),
    *("weights.safetensors", "config.json", "statistics.json", "model.json"),
)

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
        """None if `text` is not the name of a checkpoint: the trainer did not make such a folder."""
        found = _CHECKPOINT.fullmatch(text)
        return cls(int(found[1]), int(found[2])) if found else None


def attempt_number(text: str) -> int | None:
    """The attempt's number for a name under `attempts/`; None if the name is not a number."""
    return int(text) if _NUMBER.fullmatch(text) else None


def attempt_folder(number: int) -> str:
    return f"{ATTEMPTS}{number}/"


def start(number: int) -> str:
    return f"{attempt_folder(number)}start.json"


def outcome(number: int) -> str:
    return f"{attempt_folder(number)}outcome.json"


def attempt_logs(number: int) -> str:
    return f"{LOGS}attempt-{number}/"


def is_attempt_logs(entry: str) -> bool:
    """True for the name of such a folder below `logs/`."""
    return entry.startswith("attempt-") and attempt_number(entry.removeprefix("attempt-").rstrip("/")) is not None
