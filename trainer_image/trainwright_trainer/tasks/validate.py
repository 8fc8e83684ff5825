"""`trainwright validate`: the checks of a cluster, and whether the data exist and have the columns of the config."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from trainwright_api.checks import cluster, load
from trainwright_api.problems import Mistakes
from trainwright_api.resource.stages import HYPEROPT


def validated(path: Path, options: load.Options | None = None, text: str | None = None) -> tuple[str, ...]:
    """The notices for a valid file, or for `text` in place of its content. `options`: those of the command line.

    Raises `Mistakes` with all errors, and `EnvironmentFailure`.
    """
    text = load.text_of(path) if text is None else text
    found = load.inspected(text, path.name, options=options)
    mistakes = Mistakes(())
    try:
        loaded = found.accepted_elsewhere()
        _check_search(path, text, options or load.Options(), loaded)
    except Mistakes as error:
        mistakes = error
    from trainwright_trainer.data.head import look  # Arrow takes a while to import

    head = look(found.spec)
    if mistakes.problems or head.problems:
        raise Mistakes((*mistakes.problems, *head.problems))
    if head.failure is not None:
        raise head.failure
    return (*loaded.notices, *cluster.notes(loaded), *head.notes)


def _check_search(path: Path, text: str, options: load.Options, loaded: load.Loaded) -> None:
    """Raise `Mistakes` for those of a hyperparameter search. The task of the file may be another."""
    if loaded.job.spec.config is not None and loaded.job.spec.config.hyperopt is not None:
        load.inspected(text, path.name, options=replace(options, task=HYPEROPT)).accepted()


def upgraded(path: Path) -> tuple[str, tuple[str, ...]]:
    """The text of a file without Ludwig's old forms, and a notice if its comments are lost. Raises `Mistakes`."""
    text, has_comments = load.upgraded_text(load.text_of(path), path.name)
    return text, () if has_comments else ("the comments of the file are lost",)
