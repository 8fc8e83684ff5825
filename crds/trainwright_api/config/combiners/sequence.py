"""The combiners of sequences."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.config.combiners.base import Combiner
from trainwright_api.config.encoders import ENCODERS, Encoder
from trainwright_api.schema.choice import Choice
from trainwright_api.schema.fields import Name, NoneWord, ReduceOutput, ReductionWord

MainSequence = Annotated[
    Name | None,
    Field(description="Name of the input whose sequence length the others are adapted to. null: the longest."),
]
_ENCODER = Choice(
    "encoder of the sequence combiner",
    "trainwright_api.config.encoders",
    {word: where for word, where in ENCODERS["sequence"].items() if word != "embed"},
    default="parallel_cnn",
)


class SequenceConcatCombiner(Combiner):
    """Concatenates sequence outputs step by step. Outputs without a sequence dimension are repeated for each step."""

    type: Literal["sequence_concat"] = Field(
        "sequence_concat", description="Concatenates sequence outputs step by step."
    )
    main_sequence_feature: MainSequence = None
    reduce_output: ReduceOutput = None


class SequenceCombiner(Combiner):
    """Concatenates the sequences and encodes the result with one encoder."""

    type: Literal["sequence"] = Field("sequence", description="Concatenates the sequences, then encodes them.")
    main_sequence_feature: MainSequence = None
    encoder: Annotated[Encoder, _ENCODER] = Field(
        default_factory=_ENCODER.make, description="Encoder of the concatenated sequences."
    )
    reduce_output: Annotated[
        ReductionWord | None,
        NoneWord,
        Field(description="Reduction of the sequence to one vector. null: that of the encoder."),
    ] = None
