"""One job on this machine, resolved from the file, the command line and the pod, with its locations resolved."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from trainwright_api.checks import load
from trainwright_api.checks.validate import Inspected, Loaded
from trainwright_api.checks.validate import Options as Over
from trainwright_api.config import ModelConfig, resolve
from trainwright_api.locations import is_s3
from trainwright_api.problems import Mistakes
from trainwright_api.resource.backend import Backend, is_distributed
from trainwright_api.resource.canonical import canonical, redacted
from trainwright_api.resource.job import TrainingJob, TrainingJobSpec
from trainwright_api.resource.stages import HYPEROPT, PREPROCESS, TASKS_OF_A_MODEL
from trainwright_api.resource.strategy import Strategy
from trainwright_trainer.data.cache import FOLDER
from trainwright_trainer.data.head import look
from trainwright_trainer.job.options import Options, refuse_unwritable
from trainwright_trainer.job.pod import Pod
from trainwright_trainer.job.recipe import Recipe
from trainwright_trainer.rundir.layout import MODEL
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.location import DataUri, Place, S3Uri, data_place_of, place_of
from trainwright_trainer.storage.registry import storage_of
from trainwright_trainer.storage.s3client.job_credentials import (
    ARTIFACTS,
    CACHE,
    DATASETS,
    JobCredentials,
    idle_keys,
    keys_of,
)

if TYPE_CHECKING:
    from trainwright_trainer.job.source import Source


@dataclass(frozen=True)
class Job:
    """One run to do. `config` is resolved. It is None for the tasks that take a trained model.

    `workers`: the number in the file. It decides the global batch on every backend.
    """

    path: Path
    options: Options
    name: str
    task: str
    resource: TrainingJob
    config: ModelConfig | None
    dataset: str
    output: Place
    model: Place | None
    keys: JobCredentials
    workers: int
    text: str
    notices: tuple[str, ...]
    attempt: int | None = None
    """The attempt's number, which the operator assigns. None outside a pod."""
    uid: str | None = None
    """The uid of the TrainingJob. None outside a pod."""
    recipe: Recipe | None = None
    """The recipe for a file without a trainer section. It is set after the data are read."""
    given_workers: int | None = None
    """The number of workers on Ray. None: as many as the cluster has GPUs for."""
    cpus: float | None = None
    """The CPUs that the operator or a search has reserved for this process. None: all that it may use."""
    strategy: Strategy | None = None
    """The strategy of processes that a launcher has started. None: that of the backend."""
    source: Source | None = None
    """The other run to start from, which `resumeFrom` names."""
    taken: str = ""
    """The line about the weights that the model takes from the source. It is set when the model is made."""
    launcher: str = ""
    """The program that has started the processes of the run, if the user has started it."""
    maps_on_ray: bool = False
    """True for a task of a model whose blocks are computed on a Ray cluster."""
    prepares_on_ray: bool = False
    """True if the task preprocess uses a Ray cluster: with processor dask or modin, but not in a single pod."""

    @property
    def spec(self) -> TrainingJobSpec:
        return self.resource.spec

    @property
    def shown_dataset(self) -> str:
        """The data set for files and messages: a URL without its query, which may contain a key."""
        place = data_place_of(self.dataset, "dataset")
        return str(place) if isinstance(place, DataUri) else self.dataset

    def plain(self) -> dict[str, Any]:
        """The job as plain JSON with its resolved config. A resumed run must be compatible with it."""
        spec = canonical(self.spec)
        config = None if self.config is None else self.config.model_dump(mode="json")
        plain = {**spec, "config": config, "dataset": self.shown_dataset, "seed": self.spec.seed}
        return {"spec": plain if self.source is None else {**plain, "resumeFrom": self.source.essence}}

    def written(self) -> str:
        """The text of the file. If it holds secrets, the same job as JSON without them."""
        hidden = redacted(self.resource)
        return self.text if hidden == canonical(self.resource) else json.dumps(hidden, indent=2) + "\n"

    @property
    def strategy_section(self) -> Strategy | None:
        """None if one process trains alone."""
        return self.strategy or self.spec.backend.strategy_section

    @property
    def cache_dir(self) -> str | None:
        folder = self.options.folder_of_table
        return self.spec.backend.cache_dir or (None if folder is None else str(Path(folder, FOLDER)))

    @property
    def home(self) -> Storage | None:
        """The folder that paths in the data start from. None: that of the data set."""
        folder = self.options.folder_of_table
        return None if folder is None else storage_of(Path(folder))


def read_job(
    task: str | None,
    path: Path,
    options: Options,
    text: str | None = None,
    pod: Pod | None = None,
    world: int | None = None,
) -> Job:
    """Read, check and resolve a file, or `text` in place of its content. Raises `Mistakes`.

    `world`: the processes that a launcher has started, which are the workers of a file that gives no number. None: no
    launcher.
    """
    text = load.text_of(path) if text is None else text
    over = Over(
        dataset=options.dataset,
        backend=options.backend,
        task=task,
        model=_model(task, path.stem, text, options),
        seed=options.seed,
        cache_dir=options.cache_dir,
        lenient=options.lenient,
        keeps_open=world is not None,
    )
    loaded = _accepted(load.inspected(text, path.name, options=over))
    spec, name = loaded.job.spec, loaded.job.metadata.name or path.stem
    if spec.task == "predict" and options.output:
        refuse_unwritable(options.output)
    output = _place(pod.run if pod else options.output) or _output(spec, name)
    place = place_of(spec.model, "model") if spec.model else None
    stored = _stored(spec, output, place, place_of(spec.resume_from, "resumeFrom") if spec.resume_from else None)
    given, keys = _given_workers(spec, pod), keys_of(spec.backend, stored)
    config = _resolved(spec)
    return Job(
        path=path,
        options=options,
        name=name,
        task=spec.task,
        resource=loaded.job,
        config=config,
        dataset=spec.dataset or "",
        output=output,
        model=place,
        keys=keys,
        workers=given or _workers(loaded.declared, world or 1),
        text=_current_text(loaded),
        notices=(
            *(*loaded.notices, *_idle_search(spec), *_in_one_process(spec, pod, world)),
            *idle_keys(spec.backend, stored),
        ),
        attempt=pod.attempt if pod else None,
        uid=pod.uid if pod else None,
        given_workers=given,
        cpus=pod.cpus if pod else options.cpus,
        source=_source(spec, config, keys),
        prepares_on_ray=_prepares_on_ray(spec, pod),
        maps_on_ray=_maps_on_ray(spec, pod, world),
    )


def _accepted(found: Inspected) -> Loaded:
    """The valid job. Raises `Mistakes` with all errors in the file and in the head of the data."""
    try:
        return found.accepted()
    except Mistakes as mistakes:
        raise Mistakes((*mistakes.problems, *look(found.spec).problems)) from None


def _current_text(loaded: Loaded) -> str:
    """The text of the file. If it has old forms of Ludwig, the upgraded job as JSON."""
    return json.dumps(canonical(loaded.job), indent=2) + "\n" if loaded.upgraded else loaded.text


def _resolved(spec: TrainingJobSpec) -> ModelConfig | None:
    """The resolved config. A search belongs to no run of its own, so only task hyperopt keeps its section."""
    if spec.config is None:
        return None
    config = resolve(spec.config)
    return config if spec.task == HYPEROPT else config.model_copy(update={"hyperopt": None})


def _idle_search(spec: TrainingJobSpec) -> list[str]:
    if spec.config is None or spec.config.hyperopt is None or spec.task == HYPEROPT:
        return []
    return [f"config.hyperopt does not act with task {spec.task}: trainwright hyperopt searches"]


def _prepares_on_ray(spec: TrainingJobSpec, pod: Pod | None) -> bool:
    """True if the processor is distributed, and the process is no pod or one of a Ray cluster."""
    return is_distributed(spec.backend.type, spec.backend.processor.type) and (pod is None or bool(pod.ray_version))


def _maps_on_ray(spec: TrainingJobSpec, pod: Pod | None, world: int | None) -> bool:
    """True for a task of a model on backend ray, if the process is no pod, or one of a Ray cluster, and no launcher has
    started it."""
    is_free = world is None and (pod is None or bool(pod.ray_version))
    return spec.task in TASKS_OF_A_MODEL and spec.backend.type == "ray" and is_free


def _in_one_process(spec: TrainingJobSpec, pod: Pod | None, world: int | None) -> list[str]:
    alone = spec.task in TASKS_OF_A_MODEL and not _maps_on_ray(spec, pod, world)
    alone |= spec.task == PREPROCESS and not _prepares_on_ray(spec, pod)
    if spec.backend.type == "local" or not alone:
        return []
    return [
        f"task {spec.task} runs in this process alone: of backend {spec.backend.type} only the cache and its keys act"
    ]


def _source(spec: TrainingJobSpec, config: ModelConfig | None, keys: JobCredentials) -> Source | None:
    if spec.resume_from is None or config is None:
        return None
    from trainwright_trainer.job.source import source_of  # it imports torch

    return source_of(spec.resume_from, config, keys.artifacts)


def _stored(spec: TrainingJobSpec, *places: Place | None) -> set[str]:
    """The uses of credentials whose files lie in S3. A cache without a location of its own lies beside the data."""
    data = spec.dataset or ""
    lie = {
        DATASETS: is_s3(data),
        ARTIFACTS: any(isinstance(place, S3Uri) for place in places),
        CACHE: is_s3(spec.backend.cache_dir or data),
    }
    return {use for use, is_stored in lie.items() if is_stored}


def _model(task: str | None, stem: str, text: str, options: Options) -> str | None:
    """The model of evaluate and predict: the one that the options name, else the one that this file trains.

    The options of evaluate name one also by the output folder, if that is the folder of a run.
    """
    if task not in TASKS_OF_A_MODEL or options.model is not None:
        return options.model
    loaded = load.inspected(text, stem, options=Over(dataset=options.dataset or "-", lenient=options.lenient)).loaded
    if loaded is None:
        return None  # a file for a trained model; `read_job` reports its errors
    trained = loaded.job
    place = _place(options.output) if task == "evaluate" else None
    if place is None or not _has_model(place, trained.spec):
        place = _output(trained.spec, trained.metadata.name or stem)
    return str(place / "model")


def _has_model(place: Place, spec: TrainingJobSpec) -> bool:
    access = keys_of(spec.backend, _stored(spec, place)).artifacts
    return storage_of(place, access).exists(f"{MODEL}model.json")


def _output(spec: TrainingJobSpec, name: str) -> Place:
    """The default output. Relative paths start at the working folder, in the file and on the command line."""
    return place_of(spec.output or "out", "output") / name


def _place(output: str | None) -> Place | None:
    return place_of(output, "--output") if output else None


def _given_workers(spec: TrainingJobSpec, pod: Pod | None) -> int | None:
    """The number of workers on Ray: the one that the operator has resolved, else the file's number."""
    if spec.backend.type != "ray":
        return None
    workers = pod.workers if pod and pod.workers else spec.backend.trainer.num_workers
    return workers if isinstance(workers, int) else None


def _workers(declared: Backend, world: int) -> int:
    """The number of workers in the file, or `world` for a range: then the cluster or a given global batch decides."""
    workers = declared.trainer.num_workers
    return workers if isinstance(workers, int) else world
