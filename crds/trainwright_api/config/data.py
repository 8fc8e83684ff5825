"""Which rows are taken, and which of them train, validate and test."""

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
    Field(description="Shares of training, validation and test rows; they sum to 1."),
]
DEFAULT_PROBABILITIES = (0.7, 0.1, 0.2)
_TOLERANCE = 1e-6


class Split(Chosen):
    """How rows are divided into training, validation and test; `type` names it."""

    def mistakes(self) -> Iterator[InitErrorDetails]:
        shares = getattr(self, "probabilities", DEFAULT_PROBABILITIES)
        if abs(sum(shares) - 1) > _TOLERANCE:
            yield relation(f"the three shares sum to {sum(shares):.6g}, not to 1", "probabilities", found=list(shares))
        elif shares[0] == 0:
            yield relation("no row is left to train with", "probabilities", found=list(shares))


class RandomSplit(Split):
    """Each row by chance, from the seed and its number alone."""

    type: Literal["random"] = Field("random", description="By chance, from the seed and the row's number.")
    probabilities: Probabilities = DEFAULT_PROBABILITIES


class FixedSplit(Split):
    """As a column of the data says: 0 training, 1 validation, 2 test."""

    type: Literal["fixed"] = Field("fixed", description="As a column of the data says.")
    column: Name = Field("split", description="The column: 0 training, 1 validation, 2 test.")


class HashSplit(Split):
    """By a hash of a column, so that equal values stay together and data may grow."""

    type: Literal["hash"] = Field("hash", description="By a hash of a column's value.")
    column: Name | None = Field(None, description="The column whose value is hashed.")
    probabilities: Probabilities = DEFAULT_PROBABILITIES

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from super().mistakes()
        yield from _column_mistakes(self.column, "hash")


class StratifySplit(Split):
    """By chance, with each class of a column equally shared."""

    type: Literal["stratify"] = Field("stratify", description="By chance, with equal shares of each class of a column.")
    column: Name | None = Field(None, description="The column of classes.")
    probabilities: Probabilities = DEFAULT_PROBABILITIES

    def mistakes(self) -> Iterator[InitErrorDetails]:
        yield from super().mistakes()
        yield from _column_mistakes(self.column, "stratify")


class DatetimeSplit(Split):
    """By time: the oldest rows train, the newest test."""

    type: Literal["datetime"] = Field("datetime", description="By time: the oldest rows train, the newest test.")
    column: Name | None = Field(None, description="The column of dates.")
    probabilities: Probabilities = DEFAULT_PROBABILITIES

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
    """Which rows are taken, and how they are divided."""

    sample_ratio: Annotated[float, Field(gt=0, le=1)] = Field(1.0, description="Share of the rows that is taken.")
    sample_size: PositiveInt | None = Field(None, description="Number of rows that is taken; null for all.")
    oversample_minority: NonNegativeFloat | None = Field(
        None, description="Share of the larger class to which the smaller one is repeated."
    )
    undersample_majority: NonNegativeFloat | None = Field(
        None, description="Share of the smaller to the larger class that leaving out rows is to reach."
    )
    split: Annotated[RandomSplit | FixedSplit | HashSplit | StratifySplit | DatetimeSplit, SPLIT] = Field(
        default_factory=SPLIT.make, description="Which rows train, validate and test."
    )
    global_max_sequence_length: PositiveInt | None = Field(
        None, description="Longest sequence of inputs and outputs together, in tokens."
    )

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.oversample_minority and self.undersample_majority:
            yield relation(
                "give oversample_minority or undersample_majority, not both",
                "undersample_majority",
                found=self.undersample_majority,
            )
