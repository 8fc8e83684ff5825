"""The inputs of one training attempt."""

from __future__ import annotations

from dataclasses import dataclass

from trainwright_api.config import ModelConfig
from trainwright_trainer.data.prepared import Prepared
from trainwright_trainer.job.job import Job
from trainwright_trainer.rundir.attempt import Attempt
from trainwright_trainer.runtime.threads import Threads


@dataclass(frozen=True)
class TrainContext:
    """The job, its data as columns, the attempt that owns the run folder, and the number of threads.

    `config` is the resolved config of the job.
    """

    config: ModelConfig
    job: Job
    data: Prepared
    attempt: Attempt
    threads: Threads
