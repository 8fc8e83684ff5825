"""Loads a valid job from YAML. Also exports the canonical form, which is hashed and compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pydantic import ValidationError

from trainwright_api.checks.error_messages import lines
from trainwright_api.checks.forms import resource
from trainwright_api.checks.validate import Inspected, Loaded, Options, inspect
from trainwright_api.paths import dotted
from trainwright_api.problems import Mistakes, Problem
from trainwright_api.resource.canonical import canonical, digest, redacted
from trainwright_api.resource.dataset_options import DatasetOptions
from trainwright_api.yaml.nodes import read
from trainwright_api.yaml.rewrite import rewritten

__all__ = [
    "Loaded",
    "Options",
    "canonical",
    "dataset_options",
    "digest",
    "inspected",
    "load",
    "loads",
    "redacted",
    "text_of",
    "upgraded_text",
]

MOST_BYTES = 3 * 2**20
"""The maximum size of a file. It is more than Kubernetes can store in one object."""


def load(
    path: Path,
    *,
    dataset: str | None = None,
    backend: str | None = None,
    task: str | None = None,
    model: str | None = None,
) -> Loaded:
    """Load the job in a file. The other arguments override the file. Raises `Mistakes`."""
    options = Options(dataset=dataset, backend=backend, task=task, model=model)
    return loads(text_of(path), path.name, options=options)


def loads(text: str, source_name: str, *, options: Options | None = None) -> Loaded:
    """Load the job in a text of YAML or JSON. Messages use `source_name`. Raises `Mistakes`."""
    return inspected(text, source_name, options=options).accepted()


def inspected(text: str, source_name: str, *, options: Options | None = None) -> Inspected:
    """Return the job of a text with its mistakes. Raises `Mistakes` only if the text is not YAML or not a mapping."""
    document = read(text)
    return inspect(document.data, source_name, text=text, notices=tuple(document.notices), options=options)


def dataset_options(data: Any) -> DatasetOptions:
    """Load the section `datasetOptions` alone. Raises `Mistakes`."""
    try:
        return DatasetOptions.model_validate(data, by_alias=True, by_name=False)
    except ValidationError as error:
        found = [Problem(dotted(("datasetOptions", *location)), line) for location, line in lines(error)]
        raise Mistakes(found) from None


def upgraded_text(text: str, source_name: str) -> tuple[str, bool]:
    """Return the text of a file with the successors of Ludwig's old forms, and True if its comments are kept.

    A file without old forms stays as it is. Raises `Mistakes` if the text is not YAML, or has an old form beside its
    successor.
    """
    data = read(text).data
    form = resource(data, source_name) if isinstance(data, dict) else None
    if form is None or not form.upgraded:
        return text, True
    if form.problems:
        raise Mistakes(form.problems)
    return rewritten(text, *form.of_file())


def text_of(path: Path) -> str:
    """Return the text of a file. Raises `Mistakes` if the file cannot be read, is too large or is not UTF-8."""
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except IsADirectoryError:
        raise Mistakes.one("", "a folder, not a job's file: is it a model (--model) or the data (--dataset)?") from None
    except OSError as error:
        raise Mistakes.one("", f"cannot be read: {error.strerror or error}") from None
    if len(content) > MOST_BYTES:
        raise Mistakes.one("", f"larger than {MOST_BYTES // 2**20} MiB: is this the data? Give that with --dataset")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Mistakes.one("", f"no text in UTF-8 (byte {error.start + 1}): is this the data?") from None
