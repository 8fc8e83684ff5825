"""The `TrainingJob` resource: data and model, the backend, and the usual fields of a Kubernetes job."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, get_args

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config import ModelConfig
from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.resource.backend import Backend
from trainwright_api.resource.dataset_options import DatasetOptions
from trainwright_api.resource.kubernetes import (
    DNS_SUBDOMAIN,
    IDENTIFIER,
    MODULE,
    QUALIFIED,
    VERSION,
    ChildMetadata,
    Name,
    PodTemplate,
)
from trainwright_api.resource.metadata import ObjectMeta
from trainwright_api.resource.stages import TASKS_OF_A_MODEL
from trainwright_api.resource.status import TrainingJobStatus
from trainwright_api.schema.section import KubernetesSection, relation
from trainwright_api.schema.unions import ByKind

API_VERSION = "trainwright.dev/v1alpha1"
KIND = "TrainingJob"

Task = Literal["train", "evaluate", "predict", "experiment", "preprocess", "hyperopt"]
Location = Annotated[str, Field(min_length=1, max_length=4096)]
Seconds = Annotated[int, Field(le=2**31 - 1)]
SomeWorkers = Annotated[int, Field(ge=1, le=1024)]
WorkersPerPod = Annotated[
    SomeWorkers | Literal["auto"],
    ByKind("a whole number of at least 1, or auto", number=SomeWorkers, text=Literal["auto"]),
]

FIXED = (
    *("task", "dataset", "datasetOptions", "config", "model", "entrypoint", "resumeFrom", "backend", "output"),
    *("seed", "checkpoint", "cache", "report", "callbacks"),
)
"""The fields of the spec that are immutable once a job has started."""

# A default with this mark is also written into the CRD, and so into every stored object. The other defaults are
# resolved when a job starts, so that the chart, the cluster or a later version can choose them.
STORED: dict[str, Any] = {"x-stored-default": True}


class CheckpointPolicy(KubernetesSection):
    """The schedule of checkpoints, and the number of kept ones. The newest two are always kept."""

    num_to_keep: Annotated[int, Field(ge=1, le=1000)] = Field(
        3, description="Number of the best checkpoints that are kept, in addition to the newest two."
    )
    score_attribute: Annotated[str, Field(min_length=1, max_length=256)] = Field(
        "validation.loss",
        description="Metric that ranks the checkpoints, such as validation.late.roc_auc or val_loss.",
    )
    score_order: Literal["min", "max"] = Field("min", description="Whether the smallest or the largest score is best.")
    every_seconds: Annotated[float, Field(ge=0, le=2**31 - 1)] = Field(
        300.0, description="Maximum time between two checkpoints in seconds. 0: checkpoints only after evaluations."
    )


class CachePolicy(KubernetesSection):
    """The size of the cache of preprocessing. `backend.cache_dir` is its place."""

    max_bytes: Annotated[int, Field(ge=1, le=2**53)] | None = Field(
        None,
        description="Maximum size of the cache in bytes. After a run has written its entries, the least recently used "
        "entries are deleted, but none that this run uses or that another run used within the last hour. null: no "
        "limit.",
    )


class ReportPolicy(KubernetesSection):
    """The analyses that the report has in addition to scores and curves. They are computed after training."""

    max_seconds: Annotated[float, Field(ge=0, le=86_400)] = Field(
        10.0,
        description="Time limit in seconds for intervals of the scores, the worst rows and permutation importance. An "
        "analysis that is not ready then is left out. 0: none of them.",
    )
    baselines: bool = Field(
        False,
        description="Also train a linear model and boosted trees on the same split, and show their test scores. It "
        "takes seconds, and needs scikit-learn (the extra report).",
    )


class MlflowCallback(KubernetesSection):
    """A run of an MLflow server, with parameters, metrics, the report and the place of the model."""

    tracking_uri: Location | None = Field(
        None, description="Address of the server. null: that of the variable MLFLOW_TRACKING_URI."
    )
    experiment_name: Annotated[str, Field(min_length=1, max_length=256)] = Field(
        "trainwright", description="Name of the experiment. It is created if it does not exist."
    )


class Callbacks(KubernetesSection):
    """Other programs that receive the progress of a run. They neither slow it down nor make it fail."""

    mlflow: MlflowCallback | None = Field(None, description="Report to an MLflow server. null: do not.")


class Entrypoint(KubernetesSection):
    """A user's own train function, instead of a config. Ray Train calls it on every worker."""

    module: Annotated[str, Field(max_length=256, pattern=MODULE)] = Field(
        description="The Python module, as in `import module`: beside the file, in the working folder, or installed."
    )
    function: Annotated[str, Field(max_length=256, pattern=IDENTIFIER)] = Field(
        description="The function in it, called with config on every worker."
    )
    config: Annotated[dict[str, Any], Field(max_length=1024)] = Field(
        default_factory=dict,
        description="Argument of the function. With a number `epochs`, a reported `epoch` (from 0) gives the progress.",
    )


class CredentialsReference(KubernetesSection):
    """The Secret that the pods get as environment variables and as files."""

    secret_name: Name = Field(description="The Secret's name, in the job's namespace.")


class TrainingJobSpec(KubernetesSection):
    """The desired state. `config` and `backend` use Ludwig's names, all other fields follow Kubernetes' conventions."""

    task: Task = Field(
        "train", description="train, evaluate, predict, experiment, preprocess or hyperopt.", json_schema_extra=STORED
    )
    dataset: Location | None = Field(
        None, description="The data set: path or URI of a file, a folder or a glob. {a,b} lists names."
    )
    dataset_options: DatasetOptions | None = Field(None, description="How the files of the data set are read.")
    config: ModelConfig | None = Field(None, description="The model: a Ludwig config. It works unchanged.")
    model: Location | None = Field(None, description="Folder of a trained model, for evaluate and predict.")
    entrypoint: Entrypoint | None = Field(
        None, description="Your own train function, which runs under Ray Train. It replaces config."
    )
    resume_from: Location | None = Field(
        None,
        description="Another run to start from. The folder of a run or of its model: training begins with its best "
        "weights. RUN/checkpoints, or a checkpoint in it: training goes on with its whole state.",
    )
    backend: Backend = Field(
        default_factory=Backend,
        description="The backend: where and how the job runs. A Ludwig backend section works unchanged.",
    )
    output: Location | None = Field(
        None, description="Folder or URI of the run: checkpoints, the model and the report."
    )
    seed: Annotated[int, Field(ge=0, le=2**53 - 1)] = Field(
        42, description="Seed of the split, the row order and the initial weights. The same seed gives the same run."
    )
    checkpoint: CheckpointPolicy = Field(
        default_factory=CheckpointPolicy, description="When checkpoints are written and which are kept."
    )
    cache: CachePolicy = Field(default_factory=CachePolicy, description="The size of the cache of preprocessing.")
    report: ReportPolicy = Field(
        default_factory=ReportPolicy, description="The analyses of the report, in addition to scores and curves."
    )
    callbacks: Callbacks = Field(
        default_factory=Callbacks, description="Other programs that receive the progress of the run."
    )
    image: Location | None = Field(None, description="Container image of the trainer. Absent: the image of the chart.")
    ray_version: Annotated[str, Field(max_length=32, pattern=VERSION)] | None = Field(
        None, description="Version of Ray in `image`, if it differs from the chart's."
    )
    pod_template: PodTemplate | None = Field(None, description="An overlay on every pod, with a part for each role.")
    child_metadata: ChildMetadata | None = Field(None, description="Labels and annotations of the Job or RayJob.")
    credentials: CredentialsReference | None = Field(None, description="A Secret for the pods.")
    queue_name: Annotated[str, Field(min_length=1, max_length=63, pattern=DNS_SUBDOMAIN)] | None = Field(
        None, description="Kueue's LocalQueue."
    )
    gpu_resource_name: Annotated[str, Field(min_length=1, max_length=317, pattern=QUALIFIED)] = Field(
        "nvidia.com/gpu", description="Resource name of a GPU, such as nvidia.com/gpu or a MIG profile."
    )
    workers_per_pod: WorkersPerPod = Field(
        1, description="Workers in one pod. auto: as many as share the pods evenly and fit the largest node's GPUs."
    )
    suspend: bool = Field(
        False, description="Stop the job with a checkpoint. false: continue.", json_schema_extra=STORED
    )
    backoff_limit: Annotated[int, Field(ge=0, le=10_000)] = Field(
        3,
        description="Maximum number of new attempts after failures. User errors are never retried.",
        json_schema_extra=STORED,
    )
    preemption_limit: Annotated[int, Field(ge=0, le=1_000_000)] = Field(
        100, description="Maximum number of new attempts after preemptions.", json_schema_extra=STORED
    )
    resize_limit: Annotated[int, Field(ge=0, le=1_000_000)] = Field(
        100,
        description="Maximum number of times that a job with a range of workers changes their number. After that, the "
        "number stays. 0: it is decided once, at the start.",
    )
    start_deadline_seconds: Annotated[Seconds, Field(ge=1)] = Field(
        900,
        description="Time in seconds from the first scheduled pod of an attempt to its start. After it, a "
        "partially scheduled gang releases its nodes and is queued again. Time in Kueue's queue "
        "does not count.",
    )
    active_deadline_seconds: Annotated[Seconds, Field(ge=1)] | None = Field(
        None, description="Maximum running time over all attempts in seconds. Time in a queue does not count."
    )
    ttl_seconds_after_finished: Annotated[Seconds, Field(ge=0)] | None = Field(
        None,
        description="Time in seconds from the end to the clean-up. "
        "Absent: jobs.ttlSecondsAfterFinished of the chart, or no clean-up.",
    )
    ttl_policy: Literal["DeleteChildren", "DeleteJob"] = Field(
        "DeleteChildren", description="Objects that the clean-up deletes.", json_schema_extra=STORED
    )

    @property
    def with_kuberay(self) -> TrainingJobSpec:
        """The spec as a cluster with KubeRay reads it: it completes a missing `backend.type`."""
        return self.model_copy(update={"backend": self.backend.with_kuberay})

    @classmethod
    def mistakes_in(cls, values: Mapping[str, Any]) -> Iterator[InitErrorDetails]:
        given = [name for name in ("config", "model", "entrypoint") if values.get(name) is not None]
        task = "train" if values.get("task") is None else values["task"]
        if len(given) > 1:
            yield relation(f"given beside {given[0]}: {_EXACTLY_ONE}", given[-1])
        elif not given:
            yield relation(f"missing: {_EXACTLY_ONE}", "model" if task in TASKS_OF_A_MODEL else "config")
        elif task in get_args(Task) and (task in TASKS_OF_A_MODEL) != (given == ["model"]):
            yield _misfit(task, given[0])
        if values.get("dataset") is None and "entrypoint" not in given:
            yield relation("missing: name the data in the file, or with --dataset", "dataset")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        section = self.backend.with_kuberay.strategy_section
        if self.config is None or section is None:
            return
        if section.type == "deepspeed":
            yield from _deepspeed_lacks(self.config.trainer, section.stage)
        if section.mp_policy is not None:
            yield from _mixed_twice(self.config.trainer)


def _deepspeed_lacks(trainer: TrainerConfig, stage: int) -> Iterator[InitErrorDetails]:
    """Yield the trainer's options that strategy deepspeed cannot follow."""
    at = ("config", "trainer")
    for name in ("clipnorm", "clipvalue"):
        if trainer.gradient_clipping is not None and getattr(trainer.gradient_clipping, name) is not None:
            found = "strategy deepspeed clips by the norm of all gradients only: use clipglobalnorm"
            yield relation(found, *at, "gradient_clipping", name)
    if trainer.precision == "float64":
        yield relation("strategy deepspeed keeps float32 master weights: use float32", *at, "precision")
    if trainer.use_mixed_precision:
        found = "with strategy deepspeed, set bf16 or fp16 in backend.trainer.strategy instead"
        yield relation(found, *at, "use_mixed_precision")
    if trainer.compile:
        yield relation("acts with strategies ddp, fsdp and horovod only, not with deepspeed", *at, "compile")
    if trainer.enable_gradient_checkpointing and stage == 3:
        found = "does not act in ZeRO stage 3: use stage 2, or strategy fsdp"
        yield relation(found, *at, "enable_gradient_checkpointing")


def _mixed_twice(trainer: TrainerConfig) -> Iterator[InitErrorDetails]:
    """Yield the trainer's options that exclude FSDP's `mp_policy`."""
    at = ("config", "trainer")
    if trainer.use_mixed_precision:
        yield relation("backend.trainer.strategy.mp_policy is set too: choose one", *at, "use_mixed_precision")
    if trainer.precision == "float64":
        yield relation("mixed precision (backend.trainer.strategy.mp_policy) needs float32", *at, "precision")


def fixed(name: str) -> str:
    """Return the message for a change of an immutable field: the reason, and the alternative."""
    return f"{name} is fixed once the job has started: delete the job and create it anew, or create another one"


_EXACTLY_ONE = "exactly one of config, model and entrypoint says what to do"


def _misfit(task: str, given: str) -> InitErrorDetails:
    if given == "model":
        return relation(f"acts with task evaluate or predict, not with {task}: give a config instead", "model")
    return relation(f"task {task} needs a trained model: give model instead of {given}", given)


class TrainingJob(KubernetesSection):
    """Turns one YAML file into a trained model, on a laptop or on a GPU cluster."""

    api_version: Literal["trainwright.dev/v1alpha1"] = Field(description="The API's group and version.")
    kind: Literal["TrainingJob"] = Field(description="The kind of this resource.")
    metadata: ObjectMeta = Field(description="Kubernetes' object metadata.")
    spec: TrainingJobSpec = Field(description="The desired state.")
    status: TrainingJobStatus | None = Field(None, description="The observed state. Written by the operator.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.metadata.name is None and self.metadata.generate_name is None:
            yield relation("missing: the job needs a name", "metadata", "name")
