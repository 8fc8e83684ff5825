"""The `backend` section, and the table of the sections and strategies of each backend."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.resource.strategy import Path, Strategy, StrategyOrWord
from trainwright_api.schema.section import Section, relation
from trainwright_api.schema.unions import ByKind

BackendName = Literal["local", "ray", "deepspeed", "horovod"]
ProcessorName = Literal["dask", "modin", "pandas"]
Workers = Annotated[int, Field(ge=1, le=100_000)]
Dictionary = Annotated[dict[str, Any], Field(min_length=1, max_length=64)]
Secrets = Annotated[Path | Dictionary, ByKind("a path, or a dictionary", text=Path, keys=Dictionary)]


@dataclass(frozen=True)
class Acts:
    """The sections of `backend` and the strategies that have an effect with one backend, the default strategy first."""

    sections: tuple[str, ...]
    strategies: tuple[str, ...]

    @property
    def sizes_workers(self) -> bool:
        """True if `backend.trainer` sets workers and their GPUs."""
        return "trainer" in self.sections


BACKENDS: Mapping[str, Acts] = MappingProxyType(
    {
        "local": Acts(("cache", "loader"), ("single",)),
        "ray": Acts(("cache", "processor", "trainer", "loader"), ("ddp", "fsdp", "deepspeed", "horovod")),
        "deepspeed": Acts(("cache", "trainer", "loader"), ("deepspeed",)),
        "horovod": Acts(("cache", "trainer", "loader"), ("horovod",)),
    }
)


DEFAULT_PROCESSOR: ProcessorName = "dask"


def is_distributed(backend: str, processor: str) -> bool:
    """Return True if this processor prepares the data in tasks on the nodes of the backend's cluster."""
    return backend in BACKENDS and "processor" in BACKENDS[backend].sections and processor != "pandas"


class Processor(Section):
    """Distributed preprocessing. Every library gives the same columns."""

    type: ProcessorName = Field(
        DEFAULT_PROCESSOR,
        description="The data frame library: dask, modin or pandas. modin has an environment and an image of its own.",
    )
    parallelism: Annotated[int, Field(ge=1, le=1_000_000)] | None = Field(
        None, description="Partitions of the data set, at most one for each 65,536 rows, with dask. null: dask decides."
    )
    persist: bool = Field(
        True,
        description="Keep the rows that are read and cleaned in the cluster's memory between two passes, with dask. "
        "false: read and clean them again.",
    )

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.type != "dask":
            for name in sorted(self.model_fields_set & {"parallelism", "persist"}):
                yield relation(f"acts with processor dask only; the type here is {self.type}", name)


class WorkerRange(Section):
    """A range for the number of workers, with backend ray only. On Kubernetes, the number changes while the job runs:
    the job grows when there is free room, and shrinks when nodes leave."""

    min: Workers = Field(1, description="Minimum number of workers.")
    max: Workers = Field(description="Maximum number of workers.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.max < self.min:
            yield relation(f"{self.max} is less than min ({self.min})", "max", found=self.max)


WorkersOrRange = Annotated[
    Workers | WorkerRange, ByKind("a whole number of at least 1, or {min, max}", number=Workers, keys=WorkerRange)
]
Share = Annotated[float, Field(ge=0, le=1e15)]
ResourceName = Annotated[str, Field(min_length=1, max_length=128)]
ResourceShares = Annotated[dict[ResourceName, Share], Field(max_length=16)]


OF_RAY = ("CPU", "GPU", "memory")
"""The resources that every Ray detects on a node. The others are custom ones."""
_MOST_PIECES = 1_000_000


def custom(resources: Mapping[str, float]) -> dict[str, float]:
    """Return the custom resources among those of a worker."""
    return {name: share for name, share in resources.items() if name not in OF_RAY}


def _mistake_in(name: str, share: float) -> str | None:
    """What is wrong with a resource of a worker."""
    if name not in ("CPU", "GPU") and name.upper() in ("CPU", "GPU"):
        return f"unknown resource: did you mean {name.upper()!r}?"
    if name == "TPU":
        return "not built yet: workers train on CPUs and GPUs"
    if name == "object_store_memory":
        return "Ray reserves none for a worker: remove it"
    if name != "memory" and share > _MOST_PIECES:
        return f"expected at most {_MOST_PIECES:,}, found {share:g}"
    return None


class BackendTrainer(Section):
    """Distributed training: the workers, their resources and the strategy."""

    strategy: StrategyOrWord | None = Field(
        None,
        description="ddp, fsdp, deepspeed or horovod, or an object with type and DeepSpeed's knobs. "
        "null: the backend's own, ddp on ray.",
    )
    use_gpu: bool | None = Field(None, description="Train on GPUs. null: true where the cluster has at least one.")
    num_workers: WorkersOrRange | None = Field(
        None,
        description="Workers, or a range {min, max}, which needs a numeric config.trainer.effective_batch_size. null: "
        "one for each free GPU, 1 without GPUs.",
    )
    resources_per_worker: ResourceShares | None = Field(
        None,
        description="CPU, GPU, memory in bytes and Ray's custom resources of each worker. null: 1 CPU, and 1 GPU if "
        "used.",
    )
    logdir: Path | None = Field(None, description="Folder of the logs. null: the run folder.")
    max_retries: Annotated[int, Field(ge=0, le=1000)] = Field(
        3, description="How often lost workers are replaced within one attempt."
    )

    @property
    def asks_for_workers(self) -> bool:
        """True if the section asks for workers or GPUs."""
        return asks_for_workers(self.model_dump(exclude_unset=True))

    @property
    def strategy_name(self) -> str | None:
        """The strategy's word in either form, or None if the file leaves it to the backend."""
        return self.strategy.type if isinstance(self.strategy, Strategy) else self.strategy

    def mistakes(self) -> Iterator[InitErrorDetails]:
        resources = self.resources_per_worker or {}
        for name, share in resources.items():
            if line := _mistake_in(name, share):
                yield relation(line, "resources_per_worker", name)
        if self.use_gpu is False and resources.get("GPU"):
            yield relation("asks for a GPU, but use_gpu is false: drop one of them", "resources_per_worker", "GPU")
        if self.use_gpu and resources.get("GPU") == 0:
            yield relation("is 0, but use_gpu is true: drop one of them", "resources_per_worker", "GPU")


class Loader(Section):
    """The loader: it makes batches from preprocessed columns."""

    fully_executed: bool = Field(
        True,
        description="Keep the whole data set in memory, once for the workers of a pod. false: read it in windows that "
        "fit the memory, for data that do not.",
    )
    window_size_bytes: Annotated[int, Field(ge=1, le=2**53)] | None = Field(
        None,
        description="Load and shuffle in windows of about this size. null: one shuffle of all rows, or with "
        "fully_executed: false an eighth of the memory that the process may use.",
    )


class Credentials(Section):
    """Ludwig's `credentials`: one entry for each use. Each is a dictionary or the path of a JSON file."""

    default: Secrets | None = Field(None, description="The default.")
    datasets: Secrets | None = Field(None, description="To read the data set.")
    artifacts: Secrets | None = Field(None, description="To write the run folder.")
    cache: Secrets | None = Field(None, description="To read and write the cache.")


class Backend(Section):
    """The backend: where and how the job runs. A Ludwig backend section works unchanged."""

    type: BackendName = Field(
        "local",
        description="Where the job runs: local, ray, deepspeed or horovod. On Kubernetes, a job without it runs on "
        "ray if trainer asks for workers or GPUs and KubeRay is installed.",
    )
    cache_dir: Path | None = Field(
        None, description="Folder or URI of the cache of preprocessed data. null: beside the data set."
    )
    cache_credentials: Secrets | None = Field(
        None, description="Credentials of the cache: a dictionary or the path of a JSON file."
    )
    credentials: Credentials | None = Field(
        None, description="Credentials of the data set, the run folder and the cache, in Ludwig's form."
    )
    processor: Processor = Field(default_factory=Processor, description="Distributed preprocessing (ray only).")
    trainer: BackendTrainer = Field(
        default_factory=BackendTrainer, description="Distributed training (ray, deepspeed, horovod)."
    )
    loader: Loader = Field(default_factory=Loader, description="The loader.")

    @property
    def is_open(self) -> bool:
        """True if the file names no backend and asks for workers or GPUs: a cluster decides. `type` is local then."""
        return "type" not in self.model_fields_set and self.trainer.asks_for_workers

    @property
    def with_kuberay(self) -> Backend:
        """The section as a cluster with KubeRay reads it."""
        return self.model_copy(update={"type": "ray"}) if self.is_open else self

    @property
    def strategy(self) -> str:
        """The effective strategy, a word of `BACKENDS`."""
        own, named = BACKENDS[self.type].strategies, self.trainer.strategy_name
        return named if named in own else own[0]

    @property
    def strategy_section(self) -> Strategy | None:
        """The effective strategy with its options. None if the backend trains in one process."""
        given, word = self.trainer.strategy, self.strategy
        if word == "single":
            return None
        return given if isinstance(given, Strategy) else Strategy.model_validate({"type": word})

    @classmethod
    def mistakes_in(cls, values: Mapping[str, Any]) -> Iterator[InitErrorDetails]:
        if "cache_credentials" in values and "cache" in _mapping(values.get("credentials")):
            yield relation("is given by cache_credentials already: keep one of them", "credentials", "cache")
        backend = values.get("type", "local")
        if isinstance(backend, str) and backend in BACKENDS and not leaves_open(values):
            yield from _misfits(values, backend)


def asks_for_workers(trainer: Mapping[str, Any]) -> bool:
    """Return True if a file's section `backend.trainer` asks for workers or GPUs."""
    gpus = _mapping(trainer.get("resources_per_worker")).get("GPU")
    return trainer.get("num_workers") is not None or trainer.get("use_gpu") is True or bool(gpus)


def leaves_open(values: Mapping[str, Any]) -> bool:
    """Return True if a file's backend section names no backend and asks for workers or GPUs."""
    return "type" not in values and asks_for_workers(_mapping(values.get("trainer")))


def idle_sections(values: Mapping[str, Any], backend: str) -> tuple[str, ...]:
    """Return the non-empty sections of a file's backend section that have no effect on this backend."""
    filled = [section for section in ("processor", "trainer", "loader") if values.get(section)]
    return tuple(section for section in filled if section not in BACKENDS[backend].sections)


def _misfits(values: Mapping[str, Any], backend: str) -> Iterator[InitErrorDetails]:
    strategy = _mapping(values.get("trainer")).get("strategy")
    word = strategy.get("type") if isinstance(strategy, Mapping) else strategy
    fitting = [name for name, acts in BACKENDS.items() if word in acts.strategies]
    misfit = bool(fitting) and backend not in fitting
    if misfit:
        yield relation(
            f"backend {backend} {_trains(backend)}; {word} fits backend {_listed(fitting)}",
            "trainer",
            "strategy",
            found=word,
        )
    for section in idle_sections(values, backend):
        if not (section == "trainer" and misfit):
            yield relation(_why_idle(section, backend), section)


def _trains(backend: str) -> str:
    own = BACKENDS[backend].strategies
    return "trains in one process, without a strategy" if own == ("single",) else f"has strategy {_listed(own)}"


def _why_idle(section: str, backend: str) -> str:
    fitting = [name for name, acts in BACKENDS.items() if section in acts.sections]
    return f"does not act with backend {backend}, only with {_listed(fitting)}: remove it, or change backend.type"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _listed(words: Sequence[str]) -> str:
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} or {words[-1]}"
