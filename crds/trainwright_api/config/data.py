"""The sampling of rows, and the split into training, validation and test rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field, Strict
from pydantic_core import InitErrorDetails

from trainwright_api.schema.choice import Choice, Chosen
from trainwright_api.schema.fields import Fraction, Name, NonNegativeFloat, PositiveInt
from trainwright_api.schema.section import Section, relation
from trainwright_api.schema.unions import numbers

Probabilities = Annotated[
    tuple[Fraction, Fraction, Fraction],
    Strict(False),
    numbers(3, "a list of three numbers"),
    Field(description="Fractions of the training, validation and test rows. They must sum to 1."),
]
Ratio = Annotated[NonNegativeFloat, Field(le=10)]
DEFAULT_PROBABILITIES = (0.7, 0.1, 0.2)
_TOLERANCE = 1e-6


class Split(Chosen):
    """The split into training, validation and test rows. `type` selects it."""

    def mistakes(self) -> Iterator[InitErrorDetails]:
        shares = getattr(self, "probabilities", DEFAULT_PROBABILITIES)
        if abs(sum(shares) - 1) > _TOLERANCE:
            yield relation(f"the three shares sum to {sum(shares):.6g}, not to 1", "probabilities", found=list(shares))
        elif shares[0] == 0:
            yield relation("no row is left to train with", "probabilities", found=list(shares))


class RandomSplit(Split):
    """Random split. The split of a row depends on the seed and the row's number only."""

    type: Literal["random"] = Field("random", description="Random split, derived from the seed and the row's number.")
    probabilities: Probabilities = DEFAULT_PROBABILITIES


class FixedSplit(Split):
    """Split given by a column: 0 training, 1 validation, 2 test."""

    type: Literal["fixed"] = Field("fixed", description="Split given by a column.")
    column: Name = Field(
        "split", description="Name of the column. Its values are 0 (training), 1 (validation) or 2 (test)."
    )


class HashSplit(Split):
    """Split by a hash of a column. Equal values stay in one split, also when rows are added later."""

    type: Literal["hash"] = Field("hash", description="Split by a hash of a column.")
    column: Name | None = Field(None, description="Name of the column that is hashed.")
    probabilities: Probabilities = DEFAULT_PROBABILITIES

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from super().mistakes()
        yield from _column_mistakes(self.column, "hash")


class StratifySplit(Split):
    """Random split in which each class of a column is divided by the probabilities, exact to within one row.

    Every class has a training row. A missing value counts as the empty text.
    """

    type: Literal["stratify"] = Field("stratify", description="Random split, stratified by a column.")
    column: Name | None = Field(None, description="Name of the column that holds the classes.")
    probabilities: Probabilities = DEFAULT_PROBABILITIES

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from super().mistakes()
        yield from _column_mistakes(self.column, "stratify")


class DatetimeSplit(Split):
    """Split by time: the oldest rows are for training, the newest for test."""

    type: Literal["datetime"] = Field(
        "datetime", description="Split by time: the oldest rows are for training, the newest for test."
    )
    column: Name | None = Field(None, description="Name of the column that holds the dates.")
    probabilities: Probabilities = DEFAULT_PROBABILITIES
    datetime_format: str | None = Field(
        None, description="Format of the dates for strptime. null: ISO 8601 and the forms of docs/files.md."
    )

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from super().mistakes()
        yield from _column_mistakes(self.column, "datetime")


def _column_mistakes(column: str | None, word: str) -> Iterator[InitErrorDetails]:
    if column is None:
        yield relation(f"split {word} needs a column", "column")


SPLIT = Choice(
    "split",
    "trainwright_api.config",
    {
        "random": "data.RandomSplit",
        "fixed": "data.FixedSplit",
        "stratify": "data.StratifySplit",
        "datetime": "data.DatetimeSplit",
        "hash": "data.HashSplit",
    },
    default="random",
)


class PreprocessingConfig(Section):
    """Sampling of the rows and the split."""

    sample_ratio: Annotated[float, Field(gt=0, le=1)] = Field(1.0, description="Fraction of the rows to use.")
    sample_size: PositiveInt | None = Field(None, description="Number of rows to use. null: all.")
    oversample_minority: Ratio | None = Field(
        None,
        description="Ratio of the minority to the majority class after rows of the minority are repeated in an epoch. "
        "null or 0: off.",
    )
    undersample_majority: Ratio | None = Field(
        None,
        description="Ratio of the minority to the majority class after rows of the majority are left out of an epoch. "
        "null or 0: off.",
    )
    split: Annotated[RandomSplit | FixedSplit | HashSplit | StratifySplit | DatetimeSplit, SPLIT] = Field(
        default_factory=SPLIT.make, description="The split into training, validation and test rows."
    )
    global_max_sequence_length: PositiveInt | None = Field(
        None, description="Maximum length of inputs and outputs together, in tokens."
    )

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.oversample_minority and self.undersample_majority:
            yield relation(
                "give oversample_minority or undersample_majority, not both",
                "undersample_majority",
                found=self.undersample_majority,
            )
