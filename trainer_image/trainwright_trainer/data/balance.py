"""Balance the classes of a binary target: `oversample_minority` and `undersample_majority`, for training rows only.

The number of copies of a row is a function of the seed and of the rows of its class, as `docs/row-order.md` defines it.
Statistics are those of the training rows, each counted once; `sampled` beside a target's `counts` counts the copies.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
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
Labels = npt.NDArray[np.int8]
_NO_LABEL = -1


def balanced(
    prepared: Prepared, columns: Mapping[str, AnyColumn], dropped: Sequence[Mask], config: Any, seed: int
) -> Prepared:
    """The data with the copies of the training rows, if the config asks for them. `dropped`: masks of dropped rows.

    It reads the blocks of the target twice. Raises `Mistakes` for a ratio that the option cannot reach.
    """
    option = next((name for name in (OVER, UNDER) if getattr(config.preprocessing, name)), None)
    if option is None:
        return prepared
    (target,) = config.output_features

    def blocks() -> Iterator[Labels]:
        return _labels(prepared.splits, dropped, columns[target.name])

    rows = np.sum([np.bincount(labels - _NO_LABEL, minlength=3)[1:] for labels in blocks()], axis=0).tolist()
    chosen, wanted = _wanted(option, getattr(config.preprocessing, option), rows)
    sampled = [wanted if number == chosen else rows[number] for number in (0, 1)]
    statistics = prepared.statistics[target.name]
    notice = (
        f"config.preprocessing.{option}: an epoch has {wanted:,} rows with {target.name} "
        f"{(statistics['false'], statistics['true'])[chosen]!r}, from {rows[chosen]:,} training rows, "
        f"and {rows[1 - chosen]:,} of the other class"
    )
    return replace(
        prepared,
        copies=np.concatenate(list(copies_of(seed, blocks(), rows, sampled))),
        statistics={**prepared.statistics, target.name: {**statistics, "sampled": sampled}},
        notices=(*prepared.notices, notice),
    )


def _labels(parts: Parts, dropped: Sequence[Mask], target: AnyColumn) -> Iterator[Labels]:
    """int8 [rows of a block]: 1 for true, 0 for false, and `_NO_LABEL` where a row is not trained with."""
    start = 0
    for block in target.blocks():
        rows = slice(start, start + len(block))
        trained = np.logical_and.reduce([parts[rows] == TRAIN, *(~mask[rows] for mask in dropped)])
        truths = block.to_numpy(zero_copy_only=False) > 0.5
        yield np.where(trained, truths, np.int8(_NO_LABEL)).astype(np.int8)
        start = rows.stop


def _wanted(option: str, ratio: float, rows: Sequence[int]) -> tuple[int, int]:
    """The class that is sampled, and its rows in the sample. `rows`: the training rows of false and of true."""
    minority = int(rows[1] <= rows[0])  # of equally many, the rows with true
    few, many = rows[minority], rows[1 - minority]
    if not few:
        raise Mistakes.one(f"config.preprocessing.{option}", "no training row of one of the two classes is left.")
    chosen, now = (minority, few) if option == OVER else (1 - minority, many)
    wanted = int(ratio * many + 0.5) if option == OVER else max(1, int(few / ratio))
    if wanted != now and (wanted > now) == (option == OVER):
        return chosen, wanted
    line = f"{ratio:g} changes nothing: the training rows have {few:,} to {many:,}, a ratio of {few / many:.4g}."
    raise Mistakes.one(f"config.preprocessing.{option}", f"{line} Give a larger one, or remove it.")


def copies_of(seed: int, blocks: Iterable[Labels], rows: Sequence[int], sampled: Sequence[int]) -> Iterator[Copies]:
    """int32 [rows of a block]: the copies of each row. Class i has `sampled[i]` copies, spread evenly over its
    `rows[i]` rows. Rows without a label have none."""
    seen = [0, 0]
    for labels in blocks:
        copies = np.zeros(len(labels), dtype=np.int32)
        for number in (0, 1):
            found = np.flatnonzero(labels == number)
            whole, rest = divmod(sampled[number], rows[number])
            copies[found] = whole
            if rest:
                copies[found] += places(key(seed, Purpose.BALANCE), rows[number], seen[number], len(found)) < rest
            seen[number] += len(found)
        yield copies
