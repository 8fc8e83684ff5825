"""Balance the classes of a binary target: `oversample_minority` and `undersample_majority`, for training rows only.

The number of copies of a row is a function of the seed and of the rows of its class, as `docs/row-order.md` defines it.
Statistics are those of the training rows, each counted once; `sampled` beside a target's `counts` counts the copies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from trainwright_api.problems import Mistakes
from trainwright_trainer.data.order import Purpose, key
from trainwright_trainer.data.permutation import places
from trainwright_trainer.data.prepared import TRAIN, AnyColumn, Copies, Prepared
from trainwright_trainer.data.split import Parts
from trainwright_trainer.features.column import Mask

OVER, UNDER = "oversample_minority", "undersample_majority"
Rows = npt.NDArray[np.int64]


def balanced(
    prepared: Prepared, columns: Mapping[str, AnyColumn], dropped: Sequence[Mask], config: Any, seed: int
) -> Prepared:
    """The data with the copies of the training rows, if the config asks for them. `dropped`: masks of dropped rows.

    Raises `Mistakes` for a ratio that the option cannot reach.
    """
    option = next((name for name in (OVER, UNDER) if getattr(config.preprocessing, name)), None)
    if option is None:
        return prepared
    ratio: float = getattr(config.preprocessing, option)
    (target,) = config.output_features
    rows = _rows_of_classes(prepared.splits, dropped, columns[target.name])
    minority = int(len(rows[1]) <= len(rows[0]))  # of equally many, the rows with true
    chosen, wanted = _wanted(option, ratio, rows, minority)
    copies = copies_of(seed, prepared.rows, rows, {chosen: wanted})
    statistics = dict(prepared.statistics[target.name])
    label = (statistics["false"], statistics["true"])[chosen]
    statistics["sampled"] = [int(copies[of_class].sum()) for of_class in rows]
    notice = (
        f"config.preprocessing.{option}: an epoch has {wanted:,} rows with {target.name} {label!r}, "
        f"from {len(rows[chosen]):,} training rows, and {len(rows[1 - chosen]):,} of the other class"
    )
    return replace(
        prepared,
        copies=copies,
        statistics={**prepared.statistics, target.name: statistics},
        notices=(*prepared.notices, notice),
    )


def _rows_of_classes(parts: Parts, dropped: Sequence[Mask], target: AnyColumn) -> tuple[Rows, Rows]:
    """The valid training rows of the classes false and true."""
    valid = np.logical_and.reduce([parts == TRAIN, *(~mask for mask in dropped)])
    truths = np.concatenate([block.to_numpy(zero_copy_only=False) > 0.5 for block in target.blocks()])
    return np.flatnonzero(valid & ~truths), np.flatnonzero(valid & truths)


def _wanted(option: str, ratio: float, rows: tuple[Rows, Rows], minority: int) -> tuple[int, int]:
    """The class that is sampled, and its rows in the sample."""
    few, many = len(rows[minority]), len(rows[1 - minority])
    chosen, now = (minority, few) if option == OVER else (1 - minority, many)
    wanted = int(ratio * many + 0.5) if option == OVER else max(1, int(few / ratio))
    if not few:
        raise Mistakes.one(f"config.preprocessing.{option}", "no training row of one of the two classes is left.")
    if wanted != now and (wanted > now) == (option == OVER):
        return chosen, wanted
    line = f"{ratio:g} changes nothing: the training rows have {few:,} to {many:,}, a ratio of {few / many:.4g}."
    raise Mistakes.one(f"config.preprocessing.{option}", f"{line} Give a larger one, or remove it.")


def copies_of(seed: int, total: int, classes: tuple[Rows, Rows], wanted: dict[int, int]) -> Copies:
    """int64 [total]: the copies of each row. The classes in `wanted` have as many copies, spread evenly over their
    rows; rows of the other class have one, and all other rows none."""
    copies = np.zeros(total, dtype=np.int64)
    for number, rows in enumerate(classes):
        whole, rest = divmod(wanted.get(number, len(rows)), len(rows))
        copies[rows] = whole
        if rest:
            copies[rows] += places(key(seed, Purpose.BALANCE), len(rows)) < rest
    return copies
