"""What one attempt trains with."""

from __future__ import annotations

from dataclasses import dataclass

from trainwright_api.config import ModelConfig
from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.job import Job
from trainwright_trainer.rundir.attempt import Attempt


@dataclass(frozen=True)
class Material:
    """The job, its data as columns, and the attempt that owns the run folder. `config` is the job's, resolved."""

    config: ModelConfig
    job: Job
    data: Prepared
    attempt: Attempt
