"""Old forms of the hyperparameter search."""

from __future__ import annotations

from trainwright_api.paths import Location
from trainwright_api.upgrade.draft import Draft
from trainwright_api.upgrade.trainer import CONFIG, RENAMED, SCHEDULER

HYPEROPT = (*CONFIG, "hyperopt")
_EXECUTOR = (*HYPEROPT, "executor")
_SAMPLER = (*HYPEROPT, "sampler")
_OLD_EXECUTORS = ("serial", "parallel", "fiber")


def upgrade_hyperopt(draft: Draft) -> None:
    """`training.…` as the name of a parameter, executors before Ray, the scheduler, and the sampler."""
    if draft.get(HYPEROPT) == {}:
        draft.drop(HYPEROPT, " is dropped: it is empty")
    for name in list(draft.section((*HYPEROPT, "parameters"))):
        if _parameter(name) != name:
            draft.rename((*HYPEROPT, "parameters"), name, _parameter(name))
    word = draft.section(_EXECUTOR).get("type")
    if word in _OLD_EXECUTORS:
        draft.replace((*_EXECUTOR, "type"), "ray", f": {word} is read as ray")
    _move_search(draft, (*_EXECUTOR, "search_alg"))
    # Ludwig's own benchmarks for 0.5 to 0.7 have it there.
    draft.move((*HYPEROPT, "scheduler"), (*_EXECUTOR, "scheduler"))
    _upgrade_sampler(draft)


def _parameter(name: str) -> str:
    """Return the name of a parameter of the search by today's sections."""
    section, _, field = name.partition(".")
    if section not in ("training", "trainer"):
        return name
    if field in SCHEDULER:
        return f"trainer.learning_rate_scheduler.{SCHEDULER[field]}"
    return f"trainer.{RENAMED.get(field, field)}"


def _upgrade_sampler(draft: Draft) -> None:
    _move_search(draft, (*_SAMPLER, "search_alg"))
    for name in ("num_samples", "scheduler"):
        draft.move((*_SAMPLER, name), (*_EXECUTOR, name))
    draft.drop((*_SAMPLER, "type"), " is dropped: the executor is ray")
    if draft.get(_SAMPLER) == {}:
        draft.drop(_SAMPLER, " is empty now, and dropped")
    if draft.get((*_EXECUTOR, "scheduler")) == {}:
        draft.drop((*_EXECUTOR, "scheduler"), " is dropped: it is empty")


def _move_search(draft: Draft, old: Location) -> None:
    draft.move(old, (*HYPEROPT, "search_alg"))
