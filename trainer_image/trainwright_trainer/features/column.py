"""What a feature type knows of its column: the words between the passes over the data and the modules beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright_trainer.errors import not_built
from trainwright_trainer.features.distribution import Distribution

Statistics = Mapping[str, Any]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Feature:
    """One feature of the config. `path` is where it stands there, `preprocessing` its section of the contract."""

    name: str
    column: str
    type: str
    is_target: bool
    preprocessing: Any
    path: str

    @property
    def strategy(self) -> str:
        """The missing_value_strategy."""
        return str(self.preprocessing.missing_value_strategy)

    def refuse_set(self, option: str) -> None:
        """Raises `Mistakes` where the user sets an option that the contract knows and this version lacks."""
        found = getattr(self.preprocessing, option)
        if found != type(self.preprocessing).model_fields[option].default:
            raise not_built(f"{self.path}.preprocessing.{option}", str(found), "its default only")


@dataclass(frozen=True)
class Cleaned:
    """A block in the feature's own Arrow type; null is missing. `unreadable` counts those that hold something unfit."""

    values: pa.Array
    unreadable: int = 0


@dataclass(frozen=True)
class Encoded:
    """A block as the model sees it. A null is dropped, or filled from a row before or after where a mask says so.

    `unseen` rows are dropped for a value that no training row has; `unknown` ones have one that counts as missing.
    """

    values: pa.Array
    forward: Mask | None = None
    backward: Mask | None = None
    unseen: int = 0
    unknown: int = 0


class FeatureType(Protocol):
    """A module of this package. All functions are pure, and a block stands for itself: so any process may map it."""

    def refuse(self, feature: Feature) -> None:
        """Raises `Mistakes` for options that this version lacks."""

    def clean(self, feature: Feature, values: pa.Array, first_row: int) -> Cleaned:
        """Reads a block of the source. Raises `BadValueError` and `WrongTypeError`."""

    def rounds(self, feature: Feature) -> int:
        """How many times `observe` goes over the training rows."""

    def observe(self, feature: Feature, values: pa.Array, so_far: Statistics) -> Any:
        """What one block's training rows, cleaned, add to the statistics; `so_far` is the round before's."""

    def conclude(self, feature: Feature, states: Sequence[Any], so_far: Statistics) -> dict[str, Any]:
        """The statistics (plain JSON) of one round, from the states in the order of the blocks."""

    def notices(self, feature: Feature, statistics: Statistics) -> list[str]:
        """What a user may want to act on, one line each."""

    def encode(self, feature: Feature, values: pa.Array, statistics: Statistics, first_row: int) -> Encoded:
        """The block in the type that the model sees."""

    def facts(self, statistics: Statistics) -> dict[str, str]:
        """What a reader of the report wants to know of the column."""

    def distribution(self, statistics: Statistics) -> Distribution | None:
        """How its values are spread over the training rows; None where they have no one axis."""


def missing_fact(statistics: Statistics) -> dict[str, str]:
    """The line that all types share."""
    return {"missing": share(statistics["missing"], statistics["rows"])}


def share(part: int, whole: int) -> str:
    """`12.5 %`."""
    return f"{100 * part / whole:.3g} %" if whole else "–"
