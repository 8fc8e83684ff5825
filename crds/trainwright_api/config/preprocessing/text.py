"""How columns of text, sequences, sets, bags and time series are cut into tokens."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.config.preprocessing.fields import (
    PADDING,
    UNKNOWN,
    CacheEncoderEmbeddings,
    ComputedFillValue,
    Lowercase,
    MissingValueStrategy,
    MostCommon,
    PaddingSide,
    TextFillValue,
)
from trainwright_api.config.tokenizers import Tokenizer
from trainwright_api.schema.fields import NonNegativeFloat, NonNegativeInt, PositiveInt
from trainwright_api.schema.section import Section

VocabFile = Annotated[str | None, Field(description="File with one token a line; null to find them in the data.")]
SequenceLength = Annotated[
    PositiveInt | None, Field(description="Length of every sequence, in tokens; null for as long as the longest.")
]
LongestSequence = Annotated[PositiveInt | None, Field(description="Longest sequence, in tokens; the rest is cut off.")]
PaddingSymbol = Annotated[str, Field(description="The token that fills up short sequences.")]
UnknownSymbol = Annotated[str, Field(description="The token for what is not in the vocabulary.")]
NgramSize = Annotated[PositiveInt, Field(description="Words in one token of the ngram tokenizer.")]


class SequencePreprocessing(Section):
    """How a column of sequences is read."""

    tokenizer: Tokenizer = "space"
    vocab_file: VocabFile = None
    sequence_length: SequenceLength = None
    max_sequence_length: LongestSequence = 256
    most_common: MostCommon = 20000
    padding_symbol: PaddingSymbol = PADDING
    unknown_symbol: UnknownSymbol = UNKNOWN
    padding: PaddingSide = "right"
    lowercase: Lowercase = False
    missing_value_strategy: MissingValueStrategy = "fill_with_const"
    fill_value: TextFillValue = UNKNOWN
    computed_fill_value: ComputedFillValue = UNKNOWN
    ngram_size: NgramSize = 2
    cache_encoder_embeddings: CacheEncoderEmbeddings = False


class SequenceOutputPreprocessing(SequencePreprocessing):
    """How a target of sequences is read."""

    missing_value_strategy: MissingValueStrategy = "drop_row"


class PromptRetrieval(Section):
    """Which rows of the data are put into a prompt as examples."""

    type: Literal["random", "semantic"] | None = Field(None, description="How the examples are chosen; null for none.")
    index_name: str | None = Field(None, description="Name of a stored index of the data.")
    model_name: str | None = Field(None, description="Model that judges which rows are alike.")
    k: NonNegativeInt = Field(0, description="Number of examples.")


class Prompt(Section):
    """A text that is put around each value."""

    template: str | None = Field(None, description="The text, with column names in braces.")
    task: str | None = Field(None, description="What is asked, for templates that have a place for it.")
    retrieval: PromptRetrieval = Field(default_factory=PromptRetrieval, description="Which rows serve as examples.")


class TextPreprocessing(SequencePreprocessing):
    """How a column of text is read."""

    pretrained_model_name_or_path: str | None = Field(None, description="Model whose tokenizer hf_tokenizer uses.")
    tokenizer: Tokenizer = "space_punct"
    compute_idf: bool = Field(False, description="Whether the inverse document frequency of each token is computed.")
    prompt: Prompt = Field(default_factory=Prompt, description="A text that is put around each value.")


class TextOutputPreprocessing(SequencePreprocessing):
    """How a target of text is read."""

    pretrained_model_name_or_path: str | None = Field(None, description="Model whose tokenizer hf_tokenizer uses.")
    tokenizer: Tokenizer = "space_punct"
    missing_value_strategy: MissingValueStrategy = "drop_row"
    compute_idf: bool = Field(False, description="Whether the inverse document frequency of each token is computed.")


class SetPreprocessing(Section):
    """How a column of sets is read."""

    tokenizer: Tokenizer = "space"
    missing_value_strategy: MissingValueStrategy = "fill_with_const"
    fill_value: TextFillValue = UNKNOWN
    computed_fill_value: ComputedFillValue = UNKNOWN
    lowercase: Lowercase = False
    most_common: MostCommon = 10000


class SetOutputPreprocessing(SetPreprocessing):
    """How a target of sets is read."""

    missing_value_strategy: MissingValueStrategy = "drop_row"


class BagPreprocessing(SetPreprocessing):
    """How a column of bags (sets that count) is read."""


class TimeseriesPreprocessing(Section):
    """How a column of time series is read."""

    tokenizer: Tokenizer = "space"
    timeseries_length_limit: PositiveInt = Field(256, description="Longest series, in steps; the rest is cut off.")
    padding_value: NonNegativeFloat = Field(0.0, description="The value that fills up short series.")
    padding: PaddingSide = "right"
    missing_value_strategy: MissingValueStrategy = "fill_with_const"
    fill_value: TextFillValue = ""
    computed_fill_value: ComputedFillValue = ""
    window_size: NonNegativeInt = Field(
        0, description="Steps of the column that one row looks back; 0 where each row holds a series."
    )


class TimeseriesOutputPreprocessing(Section):
    """How a target of time series is read."""

    tokenizer: Tokenizer = "space"
    timeseries_length_limit: PositiveInt = Field(256, description="Longest series, in steps; the rest is cut off.")
    padding_value: NonNegativeFloat = Field(0.0, description="The value that fills up short series.")
    padding: PaddingSide = "right"
    missing_value_strategy: MissingValueStrategy = "drop_row"
    fill_value: TextFillValue = ""
    computed_fill_value: ComputedFillValue = ""
    horizon: NonNegativeInt = Field(0, description="Steps that one row looks ahead; 0 where each row holds a series.")
