"""The status of a job. The operator writes it, and people read it with kubectl."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.schema import constraints
from trainwright_api.schema.constraints import KeyedBy, Keys
from trainwright_api.schema.section import KubernetesSection

Phase = Literal["Invalid", "Pending", "Queued", "Starting", "Running", "Stopping", "Suspended", "Complete", "Failed"]
ENDS: tuple[Phase, ...] = ("Failed", "Complete")
"""The final conditions of a job, and the phases of the same names."""
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
        description="Accepted, Started, Running, Suspended, Complete, Failed, Reconciling or Stalled."
    )
    status: Literal["True", "False", "Unknown"] = Field(description="True, False or Unknown.")
    observed_generation: Count | None = Field(
        None, description="The generation of the spec that the condition is based on."
    )
    last_transition_time: Time = Field(description="When the status last changed.")
    reason: Annotated[str, Field(min_length=1, max_length=256)] = Field(description="One word for the cause.")
    message: Annotated[str, Field(max_length=32_768)] = Field(description="One line of text for the user.")


class Attempt(KubernetesSection):
    """One start of the training. The last ten are kept."""

    number: Count = Field(description="1 for the first.")
    child: Word | None = Field(None, description="The Job or RayJob that runs it.")
    stage: Word | None = Field(None, description="The stage that the child runs: the task, or preprocess before it.")
    create_time: Time | None = Field(None, description="When the child was created.")
    start_time: Time | None = Field(None, description="When its pods started. Absent while they wait for room.")
    stop_time: Time | None = Field(None, description="When the operator asked it to stop.")
    completion_time: Time | None = Field(None, description="When it ended.")
    outcome: OutcomeClass | None = Field(None, description="The class of the end.")
    reason: Word | None = Field(None, description="One word for the cause.")
    message: Line | None = Field(None, description="One line of text for the user.")
    position: Count | None = Field(None, description="The row at which it started, counted over all epochs.")
    next_attempt: Count | None = Field(None, description="The next free number, if the run has used this one before.")
    workers: Count | None = Field(None, description="The number of workers of its training.")


class Room(KubernetesSection):
    """The room for another number of workers, of a job with a range of them."""

    workers: Count = Field(description="The number of workers, this job's own included, that the nodes have room for.")
    since_time: Time = Field(description="Since when there has been room for that many.")


class RankProgress(KubernetesSection):
    """The measurements of one process of the training in the newest round. Times are average seconds per step."""

    rank: Count = Field(description="Its number, from 0.")
    host: Word = Field(description="Its pod.")
    step_seconds: Seconds = Field(description="The whole step, including the wait for other ranks.")
    own_seconds: Seconds = Field(description="The part of the step until its gradients are computed.")
    loader_seconds: Seconds = Field(description="The part of own_seconds that it waits for the loader.")
    memory_bytes: Count = Field(description="The peak memory of the process.")
    gpu_memory_bytes: Count | None = Field(None, description="The peak GPU memory in the round.")
    gpu_use: Annotated[float, Field(ge=0, le=1)] | None = Field(
        None, description="The fraction of the time in which its GPU was busy, 0 to 1, if the driver reports it."
    )


Ranks = Annotated[list[RankProgress], Field(max_length=8)]


class BestTrial(KubernetesSection):
    """One trial of a search that has a score and a run folder."""

    name: Word = Field(description="Its number, as in 0001.")
    score: float = Field(description="The newest score.")
    state: Word = Field(description="running, done or stopped.")
    values: Line | None = Field(None, description="The values of its parameters.")
    folder: ModelFolder | None = Field(None, description="Its run folder.")


class Trials(KubernetesSection):
    """The trials of a hyperparameter search."""

    total: Count | None = Field(None, description="The number of trials. Absent: as many as the time budget allows.")
    finished: Count = Field(0, description="The trials that have ended.")
    failed: Count = Field(0, description="The trials that have ended without a model.")
    running: Count = Field(0, description="The trials that have begun and not ended.")
    best: Annotated[list[BestTrial], Field(max_length=10)] | None = Field(
        None, description="The best ten trials, the best first."
    )


class Progress(KubernetesSection):
    """The progress of the training. Pods report it to the operator, which writes it at most once in 15 seconds."""

    attempt: Count | None = Field(None, description="The attempt that reports.")
    stage: Word | None = Field(None, description="The stage that the child runs: the task, or preprocess before it.")
    start_position: Count | None = Field(
        None, description="The row at which the attempt started, counted over all epochs."
    )
    summary: Word | None = Field(
        None, description="Percent done and time left, as in 41% 3m left; for a search its trials, as in 7/12 trials."
    )
    metric: Word | None = Field(None, description="The validation metric and its value; for a search the best score.")
    fraction: Annotated[float, Field(ge=0, le=1)] | None = Field(None, description="The fraction that is done, 0 to 1.")
    epoch: Count | None = Field(None, description="The current epoch, from 1.")
    epochs: Count | None = Field(None, description="The maximum number of epochs.")
    eta: Word | None = Field(None, description="The time left.")
    rows_per_second: Annotated[float, Field(ge=0)] | None = Field(None, description="Training rows per second.")
    metrics: Numbers | None = Field(None, description="The newest metrics, by split, output and name.")
    last_checkpoint: Word | None = Field(None, description="The newest complete checkpoint.")
    ranks: Ranks | None = Field(None, description="The slowest ranks by their own part of a step, at most eight.")
    straggler: Word | None = Field(None, description="One line that names the rank for which the others wait.")
    trials: Trials | None = Field(None, description="The trials of a hyperparameter search.")
    update_time: Time | None = Field(None, description="When this was reported.")


class PostedOutcome(KubernetesSection):
    """The end of an attempt, as its process posted it."""

    attempt: Count = Field(description="The attempt that ended.")
    stage: Word | None = Field(None, description="The stage that ended: the task, or preprocess before it.")
    outcome: OutcomeClass = Field(description="The class of the end.")
    message: Line | None = Field(None, description="One line of text for the user.")
    log_tail: LogTail | None = Field(None, description="The last log lines.")
    model: ModelFolder | None = Field(None, description="The trained model's folder.")
    test_scores: Numbers | None = Field(None, description="The scores on the test split.")
    next_attempt: Count | None = Field(None, description="The next free number, if the run has used this one before.")
    post_time: Time | None = Field(None, description="When this was posted.")


class Preprocessed(KubernetesSection):
    """The stage before training, which needs no GPU, once it is done. No later attempt repeats it."""

    attempt: Count = Field(description="The attempt that did it.")
    child: Word | None = Field(None, description="The Job that did it.")
    start_time: Time | None = Field(None, description="When its pod ran.")
    completion_time: Time | None = Field(None, description="When it ended.")
    message: Line | None = Field(None, description="One line of text for the user.")


class Resolved(KubernetesSection):
    """The values that are derived once, when the job starts. A resize changes workers and gpus only."""

    digest: Digest | None = Field(None, description="The hash of dataset, config and backend that were started.")
    backend: Word | None = Field(
        None,
        description="The backend that the operator has chosen, if the file names none and asks for workers or GPUs.",
    )
    strategy: Word | None = Field(None, description="The strategy of distributed training.")
    workers: Count | None = Field(None, description="The number of workers.")
    gpus: Count | None = Field(None, description="The number of GPUs that the pods of workers reserve.")
    batch_size: Count | None = Field(None, description="Rows per worker and pass.")
    global_batch_size: Count | None = Field(None, description="Rows per step, over all workers.")
    learning_rate_factor: Annotated[float, Field(ge=0)] | None = Field(None, description="Factor on the learning rate.")
    workers_per_pod: Count | None = Field(None, description="Workers in one pod.")
    seed: Count | None = Field(None, description="The seed.")
    image: Location | None = Field(None, description="The image.")
    cpu_image: Location | None = Field(None, description="The image of the pods without devices, if it is another one.")
    own_image: bool | None = Field(None, description="True if the image is that of the spec, not the chart's.")
    ray_version: Word | None = Field(
        None, description="The chart's version of Ray when the image was taken. rayVersion in the spec goes before it."
    )


class TrainingJobStatus(KubernetesSection):
    """The observed state. Written by the operator."""

    observed_generation: Count | None = Field(
        None, description="The generation of the spec that the operator has last processed."
    )
    phase: Phase | None = Field(None, description="One word for display, derived from the conditions.")
    message: Line | None = Field(None, description="One line with the state of the job, or the reason for its failure.")
    conditions: Annotated[list[Condition], Field(max_length=32), KeyedBy("type")] | None = Field(
        None, description="The state as Kubernetes conditions."
    )
    attempt: Count | None = Field(None, description="The number of the current or last attempt.")
    attempts: Annotated[list[Attempt], Field(max_length=10), KeyedBy("number")] | None = Field(
        None, description="The last ten attempts."
    )
    retries: Count | None = Field(None, description="Attempts that counted against backoffLimit.")
    preemptions: Count | None = Field(None, description="Attempts that ended by preemption.")
    requeues: Count | None = Field(
        None,
        description="Consecutive attempts that released their nodes because not all of their pods could be scheduled.",
    )
    resizes: Count | None = Field(None, description="Changes of the number of workers. They count against resizeLimit.")
    room: Room | None = Field(
        None,
        description="The room for more workers than the job has, while it could grow, or for fewer before it shrinks.",
    )
    child: Word | None = Field(None, description="The Job or RayJob of the current attempt.")
    start_time: Time | None = Field(
        None, description="When the first attempt was assigned. From then on, dataset, config and backend are fixed."
    )
    completion_time: Time | None = Field(None, description="When the job ended.")
    active_seconds: Count | None = Field(None, description="The running time of all ended attempts, in seconds.")
    gpu_seconds: Count | None = Field(
        None,
        description="GPUs times the running time of all ended attempts, in seconds. Preprocessing has none.",
    )
    outcome: PostedOutcome | None = Field(None, description="The newest outcome that a pod has posted.")
    progress: Progress | None = Field(None, description="The progress of the training.")
    preprocessed: Preprocessed | None = Field(None, description="The stage before training, once it is done.")
    resolved: Resolved | None = Field(None, description="The values that were derived at the start.")
    output: RunFolder | None = Field(None, description="The run folder.")
    model: ModelFolder | None = Field(None, description="The trained model's folder.")
    test_scores: Numbers | None = Field(None, description="The scores on the test split.")
    log_tail: LogTail | None = Field(None, description="The last log lines of the newest failed attempt.")
