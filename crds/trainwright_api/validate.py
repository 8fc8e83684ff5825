"""The one way from plain data to a valid job: for files, for the admission webhook and for `Accepted=False`."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from trainwright_api.backend import BACKENDS, Backend, Credentials, idle_sections
from trainwright_api.explain import lines
from trainwright_api.forms import Form, resource
from trainwright_api.job import TrainingJob
from trainwright_api.paths import dotted, place
from trainwright_api.problems import Mistakes, Problem
from trainwright_api.score_attribute import UnknownScoreError, canonical_score, direction_of
from trainwright_api.section import unknown_word


@dataclass(frozen=True)
class Options:
    """What a command line says beside the file, and over it. None says nothing."""

    dataset: str | None = None
    backend: str | None = None
    task: str | None = None
    model: str | None = None
    seed: int | None = None


@dataclass(frozen=True)
class Loaded:
    """A valid job, where it came from, and what its user should know."""

    job: TrainingJob
    source: str
    text: str
    notices: tuple[str, ...]
    declared: Backend
    """The backend section as the file has it: its workers decide the global batch, wherever the job runs."""
    whole: bool = False
    """The file is a whole resource, which a cluster would take as it is."""


def validate_document(
    data: Any, source: str, *, text: str = "", notices: tuple[str, ...] = (), options: Options | None = None
) -> Loaded:
    """The job that `data` stands for, in any of the forms of a file. Raises `Mistakes` with all that is wrong."""
    options = options or Options()
    _check_backend(options.backend)
    if data is None:
        raise Mistakes.one("", "the file is empty")
    if not isinstance(data, dict):
        raise Mistakes.one("", f"expected keys and values, found {'a list' if isinstance(data, list) else 'one value'}")
    form = resource(data, source)
    _apply(options, form.data)
    job = _validated(form)
    declared = job.spec.backend
    job, aside = _on_backend(job, options.backend)
    told = (*notices, *form.notices, *aside, *_warnings(declared), *_score_order(job))
    return Loaded(job, source, text, told, declared, form.whole)


def check(job: TrainingJob) -> list[Problem]:
    """The rules that are about more than one section of a job."""
    return list(_score_attribute(job))


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
        spec.pop("config", None)
        spec.pop("entrypoint", None)
    backend = spec.setdefault("backend", {}) if options.backend else spec.get("backend")
    if options.backend and isinstance(backend, dict):
        backend.setdefault("type", options.backend)


def _validated(form: Form) -> TrainingJob:
    problems = list(form.problems)
    try:
        job = TrainingJob.model_validate(form.data, by_alias=True, by_name=False)
        problems += check(job)
    except ValidationError as error:
        found = sorted(lines(error), key=lambda line: place(line[0], form.data))
        problems += [Problem(dotted(form.origin(location)), message) for location, message in found]
    if problems:
        raise Mistakes(problems)
    return job


def _on_backend(job: TrainingJob, name: str | None) -> tuple[TrainingJob, tuple[str, ...]]:
    """The job on the backend that the command line names; what does not act there is set aside, with one notice."""
    backend = job.spec.backend
    if name is None or name == backend.type:
        return job, ()
    given = backend.model_dump(exclude_unset=True)
    aside = idle_sections(given, name)
    kept = {key: value for key, value in given.items() if key not in aside}
    try:
        other = Backend.model_validate({**kept, "type": name})
    except ValidationError as error:
        raise Mistakes(Problem(dotted(("backend", *location)), message) for location, message in lines(error)) from None
    moved = job.model_copy(update={"spec": job.spec.model_copy(update={"backend": other})})
    return moved, (_set_aside(name, aside),) if aside else ()


def _set_aside(name: str, aside: tuple[str, ...]) -> str:
    sections = " and ".join(f"backend.{section}" for section in aside)
    return f"{sections} of the file do not act with backend {name}; batch size and learning rate stay those of the file"


def _warnings(backend: Backend) -> Iterator[str]:
    places = {"cache_credentials": backend.cache_credentials}
    if backend.credentials:
        places |= {f"credentials.{name}": getattr(backend.credentials, name) for name in Credentials.model_fields}
    for where, value in places.items():
        if isinstance(value, dict):
            yield f"backend.{where} holds keys in plain text: better name a file, or a Secret in spec.credentials"


def _score_attribute(job: TrainingJob) -> Iterator[Problem]:
    try:
        canonical_score(job.spec.checkpoint.score_attribute, _outputs(job))
    except UnknownScoreError as error:
        yield Problem("checkpoint.scoreAttribute", str(error))


def _score_order(job: TrainingJob) -> Iterator[str]:
    policy = job.spec.checkpoint
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
