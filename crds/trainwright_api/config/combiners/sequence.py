"""The combiners of sequences."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.config.combiners.base import Combiner
from trainwright_api.config.encoders import ENCODERS, Encoder
from trainwright_api.schema.choice import Choice
from trainwright_api.schema.fields import Name, ReduceOutput

MainSequence = Annotated[
    Name | None, Field(description="Input whose length the others are brought to; null for the longest.")
]
_ENCODER = Choice(
    "encoder of the sequence combiner",
    "trainwright_api.config.encoders",
    {word: where for word, where in ENCODERS["sequence"].items() if word != "embed"},
    default="parallel_cnn",
)


class SequenceConcatCombiner(Combiner):
    """Puts the steps of all sequences side by side, and repeats what is no sequence for each step."""

    type: Literal["sequence_concat"] = Field("sequence_concat", description="The steps of all sequences side by side.")
    main_sequence_feature: MainSequence = None
    reduce_output: ReduceOutput = None


class SequenceCombiner(Combiner):
    """Puts sequences side by side and encodes them together."""

    type: Literal["sequence"] = Field("sequence", description="Sequences side by side, encoded together.")
    main_sequence_feature: MainSequence = None
    encoder: Annotated[Encoder, _ENCODER] = Field(
        default_factory=_ENCODER.make, description="Encoder of the sequences together."
    )
    reduce_output: ReduceOutput = None
