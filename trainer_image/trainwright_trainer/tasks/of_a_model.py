"""The tasks of a model, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from trainwright_trainer.job.job import Job
from trainwright_trainer.tasks.blocks import Blocks, Log
from trainwright_trainer.tasks.evaluate import evaluate
from trainwright_trainer.tasks.predict import predict

OF_A_MODEL: Mapping[str, Callable[[Job, Log, Blocks], Any]] = {"evaluate": evaluate, "predict": predict}
