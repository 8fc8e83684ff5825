"""The status of a job. The operator writes it, and people read it with kubectl."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.schema import constraints
from trainwright_api.schema.constraints import KeyedBy, Keys
from trainwright_api.schema.section import KubernetesSection

Phase = Literal["Invalid", "Pending", "Queued", "Starting", "Running", "Stopping", "Suspended", "Complete", "Failed"]
ENDS: tuple[Phase, ...] = ("Failed", "Complete")
"""The final conditions of a job, and the phases of the same names. If a manual edit sets both, the first counts."""
OutcomeClass = Literal["done", "mistake", "environment", "crash", "stopped", "infrastructure", "preempted"]

Count = Annotated[int, Field(ge=0, le=2**53)]
Word = Annotated[str, Field(max_length=256)]
Line = Annotated[str, Field(max_length=1024)]
LogTail = Annotated[str, Field(max_length=4096)]
Location = Annotated[str, Field(max_length=4096)]
RunFolder = Annotated[str, Field(max_length=5120)]
"""The length allows for a location of the spec, and below it the folders of the namespace and of the job."""
ModelFolder = Annotated[str, Field(max_length=6144)]
"""The length allows for a path below a run folder."""
Digest = Annotated[str, Field(max_length=64)]
Time = Annotated[str, Field(max_length=64), constraints.Time()]
Seconds = Annotated[float, Field(ge=0, le=1e10)]
Numbers = Annotated[dict[Annotated[str, Field(max_length=256)], float], Field(max_length=256), Keys()]


class Condition(KubernetesSection):
    """One aspect of the job's state, as Kubernetes writes conditions."""

    type: Annotated[str, Field(min_length=1, max_length=316)] = Field(
        description="Accepted, Started, Running, Fits, Suspended, Complete, Failed, Reconciling or Stalled."
    )
    status: Literal["True", "False", "Unknown"] = Field(description="True, False or Unknown.")
    observed_generation: Count | None = Field(None, description="The generation of the spec that this was judged on.")
    last_transition_time: Time = Field(description="When the status last changed.")
    reason: Annotated[str, Field(min_length=1, max_length=256)] = Field(description="One word for the cause.")
    message: Annotated[str, Field(max_length=32_768)] = Field(description="One line for people.")


class Attempt(KubernetesSection):
    """One start of the training. The last ten are kept."""

    number: Count = Field(description="1 for the first.")
    child: Word | None = Field(None, description="The Job or RayJob that runs it.")
    stage: Word | None = Field(None, description="What the child does: the task, or preprocess before it.")
    create_time: Time | None = Field(None, description="When the child was created.")
    start_time: Time | None = Field(None, description="When its pods ran. Absent while it waits for room.")
    stop_time: Time | None = Field(None, description="When it was asked to stop.")
    completion_time: Time | None = Field(None, description="When it ended.")
    outcome: OutcomeClass | None = Field(None, description="How it ended.")
    reason: Word | None = Field(None, description="One word for the cause.")
    message: Line | None = Field(None, description="One line for people.")
    position: Count | None = Field(None, description="The row that it started from, counted over all epochs.")


class RankProgress(KubernetesSection):
    """What one process of the training measured of itself in the newest round. Times are seconds a step, on average."""

    rank: Count = Field(description="Its number, from 0.")
    host: Word = Field(description="Its pod.")
    step_seconds: Seconds = Field(description="All of a step, waiting for other ranks included.")
    own_seconds: Seconds = Field(description="Its own part of that: until its gradients are computed.")
    loader_seconds: Seconds = Field(description="Of its own part, waiting for the loader.")
    memory_bytes: Count = Field(description="The most memory that it has held.")
    gpu_memory_bytes: Count | None = Field(None, description="The most memory of its GPU that it held in the round.")
    gpu_use: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="The part of the time that its GPU was busy, 0 to 1, where the driver tells it."
    )


Ranks = Annotated[list[RankProgress], Field(max_length=8)]


class Progress(KubernetesSection):
    """How far the training is. Written by pods through the operator, at most once in 15 seconds."""

    attempt: Count | None = Field(None, description="The attempt that reports.")
    stage: Word | None = Field(None, description="What its child does: the task, or preprocess before it.")
    start_position: Count | None = Field(
        None, description="The row that the attempt started from, counted over all epochs."
    )
    summary: Word | None = Field(None, description="Percent done and time left, as people read it.")
    metric: Word | None = Field(None, description="The validation metric and its value.")
    fraction: Annotated[float, Field(ge=0, le=1)] | None = Field(None, description="The part that is done, 0 to 1.")
    epoch: Count | None = Field(None, description="The epoch that is being trained, from 1.")
    epochs: Count | None = Field(None, description="The most epochs that there will be.")
    eta: Word | None = Field(None, description="The time left.")
    rows_per_second: Annotated[float, Field(ge=0)] | None = Field(None, description="Training rows per second.")
    metrics: Numbers | None = Field(None, description="The newest metrics, by split, output and name.")
    last_checkpoint: Word | None = Field(None, description="The newest checkpoint that is complete.")
    ranks: Ranks | None = Field(None, description="The ranks whose own part of a step takes longest; eight at most.")
    straggler: Word | None = Field(None, description="One line that names the rank which holds the others up.")
    update_time: Time | None = Field(None, description="When this was reported.")


class PostedOutcome(KubernetesSection):
    """How an attempt ended, as its own process posted it."""

    attempt: Count = Field(description="The attempt that ended.")
    stage: Word | None = Field(None, description="Which stage of it: the task, or preprocess before it.")
    outcome: OutcomeClass = Field(description="How it ended.")
    message: Line | None = Field(None, description="One line for people.")
    log_tail: LogTail | None = Field(None, description="The last log lines.")
    model: ModelFolder | None = Field(None, description="The trained model's folder.")
    test_scores: Numbers | None = Field(None, description="The scores on the test split.")
    post_time: Time | None = Field(None, description="When this was posted.")


class Preprocessed(KubernetesSection):
    """The stage before training, which needs no GPU, once it is done. No later attempt repeats it."""

    attempt: Count = Field(description="The attempt that did it.")
    child: Word | None = Field(None, description="The Job that did it.")
    start_time: Time | None = Field(None, description="When its pod ran.")
    completion_time: Time | None = Field(None, description="When it ended.")
    message: Line | None = Field(None, description="One line for people.")


class Resolved(KubernetesSection):
    """What was derived when the job started, and is never derived again."""

    digest: Digest | None = Field(None, description="The hash of dataset, config and backend that were started.")
    strategy: Word | None = Field(None, description="How gradients meet.")
    workers: Count | None = Field(None, description="The number of workers.")
    gpus: Count | None = Field(None, description="The number of GPUs.")
    batch_size: Count | None = Field(None, description="Rows per worker and pass.")
    global_batch_size: Count | None = Field(None, description="Rows per step, over all workers.")
    learning_rate_factor: Annotated[float, Field(ge=0)] | None = Field(
        None, description="What the learning rate is multiplied by."
    )
    workers_per_pod: Count | None = Field(None, description="Workers in one pod.")
    seed: Count | None = Field(None, description="The seed.")
    image: Location | None = Field(None, description="The image.")


class TrainingJobStatus(KubernetesSection):
    """How it goes, written by the operator."""

    observed_generation: Count | None = Field(None, description="The generation of the spec that was last looked at.")
    phase: Phase | None = Field(None, description="One word for display, derived from the conditions.")
    message: Line | None = Field(None, description="One line that says how it goes, or why it failed.")
    conditions: Annotated[list[Condition], Field(max_length=32), KeyedBy("type")] | None = Field(
        None, description="The state in Kubernetes' conditions."
    )
    attempt: Count | None = Field(None, description="The number of the current or last attempt.")
    attempts: Annotated[list[Attempt], Field(max_length=10), KeyedBy("number")] | None = Field(
        None, description="The last ten attempts."
    )
    retries: Count | None = Field(None, description="Attempts that counted against backoffLimit.")
    preemptions: Count | None = Field(None, description="Attempts that ended by preemption.")
    requeues: Count | None = Field(
        None, description="Attempts in a row that gave their room back, because not all of their pods found any."
    )
    child: Word | None = Field(None, description="The Job or RayJob of the current attempt.")
    start_time: Time | None = Field(
        None, description="When the first attempt was decided. What the job is made of is fixed from then on."
    )
    completion_time: Time | None = Field(None, description="When the job ended.")
    active_seconds: Count | None = Field(None, description="Seconds that attempts which ended have run.")
    outcome: PostedOutcome | None = Field(None, description="The newest outcome that a pod has posted.")
    progress: Progress | None = Field(None, description="How far the training is.")
    preprocessed: Preprocessed | None = Field(None, description="The stage before training, once it is done.")
    resolved: Resolved | None = Field(None, description="What was derived at the start.")
    output: RunFolder | None = Field(None, description="The run folder.")
    model: ModelFolder | None = Field(None, description="The trained model's folder.")
    test_scores: Numbers | None = Field(None, description="The scores on the test split.")
    log_tail: LogTail | None = Field(None, description="The last log lines of the newest failed attempt.")
