"""The interface of a feature type, and the classes that the passes over the data exchange with it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from trainwright_trainer.errors import not_built
from trainwright_trainer.features.distribution import Distribution
from trainwright_trainer.features.image_files import ImageFiles

Statistics = Mapping[str, Any]
Mask = npt.NDArray[np.bool_]
Decoder = Literal["torchvision", "pillow"]
Points = Literal["decimals", "thousands", "unclear"]
"""What a point before three digits separates in the texts of a column. unclear: decimals, if other texts show them."""
_DESCRIPTION = ("histogram", "encoded")
"""The statistics of rounds beside the encoding, which `encode` does not read."""


@dataclass(frozen=True)
class Feature:
    """One feature of the config. `path` is its path in the config, `preprocessing` its preprocessing section.

    `files`: the files that a column of paths names, for an image. `decoder`: the library that decodes images. `points`:
    in the texts of the column, for a number. `is_shares`: each row of a vector has to be shares, whose sum is 1.
    """

    name: str
    column: str
    type: str
    is_target: bool
    preprocessing: Any
    path: str
    files: ImageFiles | None = None
    decoder: Decoder = "torchvision"
    points: Points = "decimals"
    is_shares: bool = False

    @property
    def strategy(self) -> str:
        """The missing_value_strategy."""
        return str(self.preprocessing.missing_value_strategy)

    @property
    def fills_from_neighbours(self) -> bool:
        """True if a missing value or an outlier is filled from the rows around it."""
        return any(strategy in ("ffill", "bfill") for strategy in self._strategies)

    @property
    def may_drop(self) -> bool:
        """True if an encoded row may be null. A target also drops rows with values that no training row has."""
        return self.is_target or self.fills_from_neighbours or self.drops_rows

    @property
    def drops_rows(self) -> bool:
        """True if a row with a missing value or an outlier is left out."""
        return "drop_row" in self._strategies

    @property
    def _strategies(self) -> tuple[Any, ...]:
        return self.strategy, getattr(self.preprocessing, "outlier_strategy", None)

    def refuse_set(self, option: str) -> None:
        """Raise `Mistakes` if the user sets an option that the API accepts but this version lacks."""
        found = getattr(self.preprocessing, option)
        if found != type(self.preprocessing).model_fields[option].default:
            raise not_built(f"{self.path}.preprocessing.{option}", str(found), "its default only")


@dataclass(frozen=True)
class Cleaned:
    """A block in the feature's own Arrow type; null is missing. `unreadable` counts the values that cannot be read.

    `noted` has further lines for the user, each with the number of values that it is about.
    """

    values: pa.Array
    unreadable: int = 0
    noted: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Encoded:
    """An encoded block. A row with null is dropped, unless `forward` or `backward` marks it.

    A row in `forward` is filled from a row before it, a row in `backward` from a row after it. `unseen` counts rows
    that are dropped because no training row has their value; `unknown` counts rows whose value counts as missing;
    `unknown_categories` counts the values of an input that are rare in the training rows or not in them. `noted` is
    that of `Cleaned`.
    """

    values: pa.Array
    forward: Mask | None = None
    backward: Mask | None = None
    unseen: int = 0
    unknown: int = 0
    unknown_categories: int = 0
    noted: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Rounds:
    """The number of passes of `observe` over the training rows: those before the first encoding, and those beside it.

    A round beside the encoding adds only the keys of `_DESCRIPTION`.
    """

    before: int = 1
    beside: int = 0

    @property
    def total(self) -> int:
        return self.before + self.beside


class FeatureType(Protocol):
    """A module of this package. Its functions are pure and need only one block, so any process may map them."""

    def refuse(self, feature: Feature) -> None:
        """Raise `Mistakes` for options that this version lacks."""

    def clean(self, feature: Feature, values: pa.Array, first_row: int) -> Cleaned:
        """Read a block of the source. Raises `BadValueError` and `WrongTypeError`."""

    def rounds(self, feature: Feature) -> Rounds:
        """The passes of `observe` over the training rows."""

    def observe(self, feature: Feature, values: pa.Array, so_far: Statistics) -> Any:
        """The partial statistics of one block's cleaned training rows. `so_far` is the result of the previous round."""

    def merge(self, feature: Feature, states: Sequence[Any]) -> Any:
        """One state for consecutive blocks. Merging a prefix of the blocks first does not change the result."""

    def conclude(self, feature: Feature, states: Sequence[Any], so_far: Statistics) -> dict[str, Any]:
        """Merge the states, in the order of the blocks, into the statistics of one round (plain JSON)."""

    def notices(self, feature: Feature, statistics: Statistics) -> list[str]:
        """Notices on which a user may want to act, one line each."""

    def encode(self, feature: Feature, values: pa.Array, statistics: Statistics, first_row: int) -> Encoded:
        """Encode the block for the model."""

    def facts(self, statistics: Statistics) -> dict[str, str]:
        """The key figures of the column for the report."""

    def distribution(self, statistics: Statistics) -> Distribution | None:
        """The distribution of the values in the training rows; None if they do not have a single axis."""


def read_by_encode(statistics: Statistics) -> Statistics:
    """The statistics without those that only describe the column."""
    return {key: value for key, value in statistics.items() if key not in _DESCRIPTION}


def missing_fact(statistics: Statistics) -> dict[str, str]:
    """The share of missing values, which all types report."""
    return {"missing": share(statistics["missing"], statistics["rows"])}


def share(part: int, whole: int) -> str:
    """A percentage as text: `12.5 %`, or `–` if `whole` is 0."""
    return f"{100 * part / whole:.3g} %" if whole else "–"
