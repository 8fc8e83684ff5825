"""Validates plain data into a job: for files, for the admission webhook and for `Accepted=False`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import ValidationError

from trainwright_api.checks.entrypoint import entrypoint_problems
from trainwright_api.checks.error_messages import lines
from trainwright_api.checks.forms import Form, resource
from trainwright_api.checks.left_out import unknown_keys, unknown_words
from trainwright_api.checks.random_weights import random_weights
from trainwright_api.checks.score_attribute import UnknownScoreError, canonical_score, direction_of
from trainwright_api.checks.unbuilt import gaps
from trainwright_api.checks.worker_range import range_problems
from trainwright_api.locations import is_read_only, is_stored, parse_bucket, parse_data_uri
from trainwright_api.paths import dotted, place
from trainwright_api.problems import Mistakes, Problem, not_built
from trainwright_api.resource.backend import BACKENDS, Backend, Credentials, WorkerRange, idle_sections, leaves_open
from trainwright_api.resource.canonical import canonical
from trainwright_api.resource.job import CheckpointPolicy, TrainingJob, TrainingJobSpec
from trainwright_api.resource.stages import HYPEROPT
from trainwright_api.schema.section import unknown_word


@dataclass(frozen=True)
class Options:
    """The options of a command line that override the file. None: not given."""

    dataset: str | None = None
    backend: str | None = None
    task: str | None = None
    model: str | None = None
    seed: int | None = None
    cache_dir: str | None = None
    lenient: bool = False
    """Ignore unknown keys, with a notice for each."""
    keeps_open: bool = False
    """Leave a missing `backend.type` to the caller. False: it is local, as on this machine."""


@dataclass(frozen=True)
class Loaded:
    """A valid job, its source, and notices for the user."""

    job: TrainingJob
    source: str
    text: str
    notices: tuple[str, ...]
    declared: Backend
    """The backend section of the file. Its workers set the global batch size on any backend."""
    whole: bool = False
    """True if the file is a full resource, which a cluster accepts unchanged."""
    upgraded: bool = False
    """True if the file has old forms of Ludwig. The job has their successors."""


@dataclass(frozen=True)
class Inspected:
    """The result for a file: the job if there are no mistakes, the mistakes, and the unbuilt parts."""

    loaded: Loaded | None
    mistakes: tuple[Problem, ...]
    unbuilt: tuple[Problem, ...]
    spec: Mapping[str, Any]
    """The plain data of the spec, for the backend of the command line."""

    @property
    def image(self) -> str:
        """The image that the job sets. Its trainer may have a later version."""
        image = self.spec.get("image")
        return image if isinstance(image, str) else ""

    def valid(self) -> Loaded:
        """Return the job, with or without unbuilt parts. Raises `Mistakes` with the mistakes of the file."""
        return replace(self, unbuilt=()).accepted()

    def accepted(self) -> Loaded:
        """Return the job. Raises `Mistakes` with all mistakes and all unbuilt parts."""
        if self.loaded is None or self.mistakes or self.unbuilt:
            raise Mistakes((*self.mistakes, *self.unbuilt))
        return self.loaded

    def accepted_elsewhere(self) -> Loaded:
        """Return a job for a cluster. If the job sets an image, its unbuilt parts become notices. Raises `Mistakes`."""
        return self.tolerant(f"image {self.image} must have it").accepted() if self.image else self.accepted()

    def tolerant(self, why: str) -> Inspected:
        """Return a copy with a notice in place of each unbuilt part."""
        if self.loaded is None and not self.mistakes:
            return self  # Ludwig has a word that the contract does not, so there is no job
        notices = tuple(f"{problem}; {why}" for problem in self.unbuilt)
        loaded = self.loaded and replace(self.loaded, notices=(*self.loaded.notices, *notices))
        return replace(self, loaded=loaded, unbuilt=())


def validate_document(
    data: Any, source: str, *, text: str = "", notices: tuple[str, ...] = (), options: Options | None = None
) -> Loaded:
    """Return the job in `data`, for this version to run. Raises `Mistakes` with all mistakes and unbuilt parts."""
    return inspect(data, source, text=text, notices=notices, options=options).accepted()


def inspect(
    data: Any, source: str, *, text: str = "", notices: tuple[str, ...] = (), options: Options | None = None
) -> Inspected:
    """Check `data`, in any of the forms of a file. Raises `Mistakes` if it is not a mapping."""
    options = options or Options()
    _check_backend(options.backend)
    if data is None:
        raise Mistakes.one("", "the file is empty")
    if not isinstance(data, dict):
        raise Mistakes.one("", f"expected keys and values, found {'a list' if isinstance(data, list) else 'one value'}")
    form = resource(data, source)
    _apply(options, form.data)
    loaded: Loaded | None = None
    mistakes: tuple[Problem, ...] = ()
    try:
        job = _validated(form, options.lenient)
        declared = job.spec.backend
        job, aside = _on_backend(job, _backend_here(options, declared.is_open))
        if moved := tuple(range_problems(job.spec)):
            raise Mistakes(moved)
        own = (*_warnings(declared), *_score_order(job), *random_weights(job.spec))
        warnings = (*notices, *form.notices, *aside, *own)
        loaded = Loaded(job, source, text, warnings, declared, form.whole, form.upgraded)
    except Mistakes as found:
        mistakes = found.problems
    spec = _moved(form.data.get("spec"), options)
    return Inspected(loaded, mistakes, (*_unbuilt(form, spec, mistakes), *form.left_out), spec)


def check(job: TrainingJob) -> list[Problem]:
    """Return the violations of rules that concern more than one section of a job."""
    return [
        *_locations(job),
        *_resume_from(job.spec),
        *_score_attribute(job),
        *_search(job),
        *entrypoint_problems(job.spec),
        *range_problems(job.spec),
    ]


def _search(job: TrainingJob) -> Iterator[Problem]:
    """Yield the mistakes of task hyperopt. The other tasks ignore the section."""
    config = job.spec.config
    if job.spec.task != HYPEROPT or config is None:
        return
    if config.hyperopt is None:
        yield Problem("config.hyperopt", "missing: task hyperopt needs this section")
        return
    from trainwright_api.checks.search import search_problems
    from trainwright_api.checks.trials import trial_problems

    plain = canonical(job)
    if isinstance(job.spec.backend.trainer.num_workers, WorkerRange):
        del plain["spec"]["backend"]["trainer"]["num_workers"]  # `trial_problems` reports it, once

    def problems_of(other: Mapping[str, Any]) -> Iterator[Problem]:
        trial = {**plain, "spec": {**plain["spec"], "task": "train", "config": other}}
        found = inspect(trial, job.metadata.name or "job")
        yield from (one for one in (*found.mistakes, *found.unbuilt) if one.path.startswith("config"))

    section: Any = config.hyperopt
    yield from search_problems(plain["spec"]["config"], section, type(config).known_keys(), problems_of)
    yield from trial_problems(job.spec)


def _locations(job: TrainingJob) -> Iterator[Problem]:
    spec = job.spec
    locations = {
        "dataset": spec.dataset,
        "output": spec.output,
        "model": spec.model,
        "resumeFrom": spec.resume_from,
        "backend.cache_dir": spec.backend.cache_dir,
    }
    for path, location in locations.items():
        try:
            if location is not None and is_stored(location):
                parse_bucket(location, path)
            elif location is not None and path == "dataset" and is_read_only(location):
                parse_data_uri(location, path)
        except Mistakes as mistakes:
            yield from mistakes.problems


def _resume_from(spec: TrainingJobSpec) -> Iterator[Problem]:
    if spec.resume_from is None:
        return
    if spec.model is not None:
        yield Problem("resumeFrom", "acts where a model is trained, not where one is used: remove it")
    elif spec.output is not None and spec.resume_from.rstrip("/") == spec.output.rstrip("/"):
        yield Problem("resumeFrom", "is the output of this job: give another output, or go on with --resume")


def _check_backend(name: str | None) -> None:
    if name is not None and name not in BACKENDS:
        raise Mistakes.one("--backend", unknown_word("backend", name, BACKENDS).message())


def _apply(options: Options, data: dict[str, Any]) -> None:
    spec = data.get("spec")
    if not isinstance(spec, dict):
        return
    for name in ("dataset", "task", "model", "seed"):
        if getattr(options, name) is not None:
            spec[name] = getattr(options, name)
    if options.model is not None:
        for name in ("config", "entrypoint", "resumeFrom"):
            spec.pop(name, None)
    backend = spec.setdefault("backend", {}) if options.backend or options.cache_dir else spec.get("backend")
    if not isinstance(backend, dict):
        return
    if options.cache_dir is not None:
        backend["cache_dir"] = options.cache_dir
    if options.backend and not leaves_open(backend):
        backend.setdefault("type", options.backend)


def _validated(form: Form, lenient: bool) -> TrainingJob:
    """Return the job. Raises `Mistakes`. What Ludwig has and the contract does not is added to `form.left_out`."""
    problems = list(form.problems)
    try:
        job = TrainingJob.model_validate(form.data, by_alias=True, by_name=False)
        problems += check(job)
    except ValidationError as error:
        if _drop_unknown(form, error, lenient):
            return _validated(form, lenient)
        words = dict(unknown_words(error))
        form.left_out += [Problem(dotted(form.origin(location)), line) for location, line in words.items()]
        found = sorted(lines(error), key=lambda line: place(line[0], form.data))
        problems += [Problem(dotted(form.origin(location)), text) for location, text in found if location not in words]
        raise Mistakes(problems) from None
    if problems:
        raise Mistakes(problems)
    return job


def _drop_unknown(form: Form, error: ValidationError, lenient: bool) -> bool:
    """Remove the unknown keys that Ludwig has, or all with `lenient`. Return True if there was one."""
    dropped = [key for key in unknown_keys(error) if (key.is_ludwigs or lenient) and form.remove(key.location)]
    for key in dropped:
        path = dotted(form.origin(key.location))
        if lenient:
            form.notices.append(f"{path} is ignored: {key.hint}")
        else:
            form.left_out.append(Problem(path, not_built("")))
    return bool(dropped)


def _unbuilt(form: Form, spec: Mapping[str, Any], mistakes: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Return the unbuilt parts, except at locations with a mistake."""
    lines = [Problem(dotted(form.origin(("spec", *at))), line) for at, line in gaps(spec)]
    wrong = {problem.path for problem in mistakes}
    return tuple(problem for problem in lines if problem.path not in wrong)


def _backend_here(options: Options, is_open: bool) -> str | None:
    """Return the backend that replaces the one of the file, if any."""
    return options.backend or ("local" if is_open and not options.keeps_open else None)


def _moved(spec: Any, options: Options) -> Mapping[str, Any]:
    """Return the plain data of a spec for the backend of the command line."""
    if not isinstance(spec, dict):
        return {}
    backend = spec.get("backend")
    if not isinstance(backend, dict):
        return spec
    name = _backend_here(options, leaves_open(backend))
    if name is None or backend.get("type") == name:
        return spec
    aside = idle_sections(backend, name)
    return {**spec, "backend": {**{key: value for key, value in backend.items() if key not in aside}, "type": name}}


def _on_backend(job: TrainingJob, name: str | None) -> tuple[TrainingJob, tuple[str, ...]]:
    """Return the job for the backend of the command line, and a notice if sections without effect are dropped."""
    backend = job.spec.backend
    if name is None or (name == backend.type and not backend.is_open):
        return job, ()
    if job.spec.entrypoint is not None:
        raise Mistakes.one("--backend", f"an entrypoint runs under Ray Train: ray, not {name}")
    given = backend.model_dump(exclude_unset=True)
    aside = idle_sections(given, name)
    kept = {key: value for key, value in given.items() if key not in aside}
    try:
        other = Backend.model_validate({**kept, "type": name})
    except ValidationError as error:
        raise Mistakes(Problem(dotted(("backend", *location)), message) for location, message in lines(error)) from None
    moved = job.model_copy(update={"spec": job.spec.model_copy(update={"backend": other})})
    missing = "backend.type is missing: local on this machine; " if backend.is_open and name == "local" else ""
    return moved, (missing + _set_aside(name, aside),) if aside else ()


def _set_aside(name: str, aside: tuple[str, ...]) -> str:
    sections = " and ".join(f"backend.{section}" for section in aside)
    verb = "do" if len(aside) > 1 else "does"
    rest = "batch size and learning rate stay those of the file"
    return f"{sections} of the file {verb} not act with backend {name}; {rest}"


def _warnings(backend: Backend) -> Iterator[str]:
    places = {"cache_credentials": backend.cache_credentials}
    if backend.credentials:
        places |= {f"credentials.{name}": getattr(backend.credentials, name) for name in Credentials.model_fields}
    for where, value in places.items():
        if isinstance(value, dict):
            yield f"backend.{where} holds keys in plain text: better name a file, or a Secret in spec.credentials"


def _score_attribute(job: TrainingJob) -> Iterator[Problem]:
    if job.spec.entrypoint is not None:  # any metric that the function reports
        return
    attribute, config = job.spec.checkpoint.score_attribute, job.spec.config
    if config and config.trainer.skip_all_evaluation and attribute != CheckpointPolicy().score_attribute:
        yield Problem("checkpoint.scoreAttribute", "does not act: config.trainer.skip_all_evaluation is true")
        return
    try:
        canonical_score(attribute, _outputs(job))
    except UnknownScoreError as error:
        yield Problem("checkpoint.scoreAttribute", str(error))


def _score_order(job: TrainingJob) -> Iterator[str]:
    policy = job.spec.checkpoint
    if job.spec.entrypoint is not None:
        return
    good = direction_of(policy.score_attribute, _outputs(job))
    if good not in (None, policy.score_order):
        better = "larger" if good == "max" else "smaller"
        yield (
            f"checkpoint.scoreOrder {policy.score_order} keeps the worst: {policy.score_attribute} is better the "
            f"{better} it is. Set scoreOrder: {good}"
        )


def _outputs(job: TrainingJob) -> dict[str, str]:
    config = job.spec.config
    return {feature.name: feature.type for feature in config.output_features} if config else {}
