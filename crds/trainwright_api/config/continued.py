"""The fields of a config that may change where training goes on from a checkpoint of another run.

The state in a checkpoint fits all of their values: the learning rate is a function of the step, and the tensors of an
optimizer do not depend on its numbers.
"""

from __future__ import annotations

_TRAINER = "config.trainer."
_FIELDS = ("learning_rate", "regularization_type", "regularization_lambda")
_SECTIONS = ("gradient_clipping", "learning_rate_scheduler")
# The plateau remembers the best value of one metric.
_FIXED = ("learning_rate_scheduler.reduce_eval_metric", "learning_rate_scheduler.reduce_eval_split")
# With them torch keeps other tensors.
_OF_STATE = ("type", "amsgrad", "centered")
_OF_STATE_OF_RMSPROP = ("momentum",)
WORDS = "trainer.learning_rate, learning_rate_scheduler, gradient_clipping, regularization and the numbers of optimizer"
"""The fields in words, for messages."""


def may_differ(path: str, optimizer: str) -> bool:
    """Return True if training may go on from a checkpoint with another value at a path, as in `config.trainer.epochs`.

    `optimizer`: the type of the job's optimizer.
    """
    if not path.startswith(_TRAINER):
        return False
    field = path.removeprefix(_TRAINER).partition("[")[0]
    first, _, rest = field.partition(".")
    if first == "optimizer":
        fixed = (*_OF_STATE, *(_OF_STATE_OF_RMSPROP if optimizer == "rmsprop" else ()))
        return bool(rest) and rest not in fixed
    return field in _FIELDS or (first in _SECTIONS and field not in _FIXED)
