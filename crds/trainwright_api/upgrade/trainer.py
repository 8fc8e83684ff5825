"""Old forms of the trainer section and of its optimizer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.problems import not_built
from trainwright_api.upgrade.draft import Draft

CONFIG = ("spec", "config")
TRAINER = (*CONFIG, "trainer")

SCHEDULER: Mapping[str, str] = {
    "decay": "decay",
    "decay_steps": "decay_steps",
    "decay_rate": "decay_rate",
    "staircase": "staircase",
    "learning_rate_warmup_epochs": "warmup_evaluations",
    "reduce_learning_rate_on_plateau": "reduce_on_plateau",
    "reduce_learning_rate_on_plateau_patience": "reduce_on_plateau_patience",
    "reduce_learning_rate_on_plateau_rate": "reduce_on_plateau_rate",
    "reduce_learning_rate_eval_metric": "reduce_eval_metric",
    "reduce_learning_rate_eval_split": "reduce_eval_split",
}
"""The fields of the trainer that moved into `learning_rate_scheduler` with Ludwig 0.7."""

RENAMED: Mapping[str, str] = {
    "increase_batch_size_on_plateau_max": "max_batch_size",
    "validation_measure": "validation_metric",
    "regularizer": "regularization_type",
}
REMOVED: Mapping[str, str] = {
    "shuffle_buffer_size": " is dropped: all rows are shuffled",
    "type": " is dropped: model_type selects the trainer",
}
OF_LLMS = ("none", "finetune", "dpo", "kto", "orpo", "grpo")
"""The words of `type` that select a trainer of large language models."""
_SGD = ("stochastic_gradient_descent", "gd", "gradient_descent")
_BETAS = (("beta_1", "beta_2"), ("beta1", "beta2"))
_DEFAULT_BETAS = (0.9, 0.999)


def upgrade_trainer(draft: Draft) -> None:
    """`training`, the schedule of the learning rate, and names of Keras in the optimizer."""
    draft.rename(CONFIG, "training", "trainer")
    for old, new in RENAMED.items():
        draft.rename(TRAINER, old, new)
    _refuse_trainer_of_llms(draft)
    for name, said in REMOVED.items():
        draft.drop((*TRAINER, name), said)
    for old, new in SCHEDULER.items():
        draft.move((*TRAINER, old), (*TRAINER, "learning_rate_scheduler", new))
    _convert_schedule(draft)
    _upgrade_optimizer(draft)
    _upgrade_dropout(draft)


def _refuse_trainer_of_llms(draft: Draft) -> None:
    """Without its type, the section would train an ordinary model."""
    at = (*TRAINER, "type")
    if (word := draft.get(at)) in OF_LLMS:
        draft.refuse(at, not_built(word, "a trainer of large language models"))


def _upgrade_dropout(draft: Draft) -> None:
    """Drop the dropout of all layers, which encoders, combiner and decoders set today. Only 0 says the same there."""
    at = (*TRAINER, "dropout_rate")
    if draft.get(at) in (0, None):
        draft.drop(at, " is dropped: 0 is the default of each layer")
    else:
        draft.refuse(at, "not read any more: set dropout in the encoders, the combiner and the decoders")


def _convert_schedule(draft: Draft) -> None:
    """Convert values whose type changed: `decay` was true or false, the number of reductions a float."""
    at = (*TRAINER, "learning_rate_scheduler")
    decay, reductions = draft.get((*at, "decay")), draft.get((*at, "reduce_on_plateau"))
    if isinstance(decay, bool):
        new = "exponential" if decay else None
        draft.replace((*at, "decay"), new, f": {str(decay).lower()} is read as {new or 'null'}")
    if isinstance(reductions, float) and reductions.is_integer():
        draft.replace((*at, "reduce_on_plateau"), int(reductions), f": {reductions} is read as {int(reductions)}")


def _upgrade_optimizer(draft: Draft) -> None:
    at = (*TRAINER, "optimizer")
    where = (*at, "type") if isinstance(draft.get(at), dict) else at
    word = draft.get(where)
    if word in _SGD:
        draft.replace(where, "sgd", f": {word} is read as sgd")
    for name in ("learning_rate", "lr"):
        draft.move((*at, name), (*TRAINER, "learning_rate"))
    draft.rename(at, "epsilon", "eps")
    if word == "rmsprop":
        draft.rename(at, "decay", "alpha")
    for names in _BETAS:
        _join_betas(draft, at, names)


def _join_betas(draft: Draft, at: tuple[str, ...], names: tuple[str, str]) -> None:
    given: dict[str, Any] = {name: draft.get((*at, name)) for name in names if name in draft.section(at)}
    if not given:
        return
    if "betas" in draft.section(at):
        for name in given:
            draft.refuse((*at, name), "the old spelling of betas, which is given too: keep betas")
        return
    betas = [given.get(name, default) for name, default in zip(names, _DEFAULT_BETAS, strict=True)]
    origin = draft.origin((*at, next(iter(given))))
    for name in given:
        draft.drop((*at, name), f" is read as betas: {betas}")
    draft.put((*at, "betas"), betas, origin)
