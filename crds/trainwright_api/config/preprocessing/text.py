"""The preprocessing parameters of text, sequence, set, bag and time series columns."""

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

VocabFile = Annotated[str | None, Field(description="File with one token per line. null: the tokens of the data.")]
SequenceLength = Annotated[
    PositiveInt | None, Field(description="Length of every sequence in tokens. null: the length of the longest.")
]
LongestSequence = Annotated[
    PositiveInt | None, Field(description="Maximum sequence length in tokens. Longer sequences are truncated.")
]
PaddingSymbol = Annotated[str, Field(description="Padding token.")]
UnknownSymbol = Annotated[str, Field(description="Token of unknown values.")]
NgramSize = Annotated[PositiveInt, Field(description="Number of words in one token of the ngram tokenizer.")]


class SequencePreprocessing(Section):
    """Preprocessing of a sequence column."""

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
    """Preprocessing of a target column of sequences."""

    missing_value_strategy: MissingValueStrategy = "drop_row"


class PromptRetrieval(Section):
    """Retrieval of rows that are added to a prompt as examples."""

    type: Literal["random", "semantic"] | None = Field(None, description="Type of the retrieval. null: none.")
    index_name: str | None = Field(None, description="Name of a stored index of the data.")
    model_name: str | None = Field(None, description="Name of the embedding model for semantic retrieval.")
    k: NonNegativeInt = Field(0, description="Number of examples.")


class Prompt(Section):
    """A prompt template for each value."""

    template: str | None = Field(None, description="The template, with column names in braces.")
    task: str | None = Field(None, description="Text of the task, for templates with {__task__}.")
    retrieval: PromptRetrieval = Field(default_factory=PromptRetrieval, description="Retrieval of examples.")


class TextPreprocessing(SequencePreprocessing):
    """Preprocessing of a text column."""

    pretrained_model_name_or_path: str | None = Field(
        None, description="Name of the pretrained model whose tokenizer hf_tokenizer uses."
    )
    tokenizer: Tokenizer = "space_punct"
    compute_idf: bool = Field(False, description="Compute the inverse document frequency of each token.")
    prompt: Prompt = Field(default_factory=Prompt, description="A prompt template for each value.")


class TextOutputPreprocessing(SequencePreprocessing):
    """Preprocessing of a target column of text."""

    pretrained_model_name_or_path: str | None = Field(
        None, description="Name of the pretrained model whose tokenizer hf_tokenizer uses."
    )
    tokenizer: Tokenizer = "space_punct"
    missing_value_strategy: MissingValueStrategy = "drop_row"
    compute_idf: bool = Field(False, description="Compute the inverse document frequency of each token.")


class SetPreprocessing(Section):
    """Preprocessing of a set column."""

    tokenizer: Tokenizer = "space"
    missing_value_strategy: MissingValueStrategy = "fill_with_const"
    fill_value: TextFillValue = UNKNOWN
    computed_fill_value: ComputedFillValue = UNKNOWN
    lowercase: Lowercase = False
    most_common: MostCommon = 10000


class SetOutputPreprocessing(SetPreprocessing):
    """Preprocessing of a target column of sets."""

    missing_value_strategy: MissingValueStrategy = "drop_row"


class BagPreprocessing(SetPreprocessing):
    """Preprocessing of a bag column."""


class TimeseriesPreprocessing(Section):
    """Preprocessing of a time series column."""

    tokenizer: Tokenizer = "space"
    timeseries_length_limit: PositiveInt = Field(
        256, description="Maximum length in steps. Longer series are truncated."
    )
    padding_value: NonNegativeFloat = Field(0.0, description="Padding value of short series.")
    padding: PaddingSide = "right"
    missing_value_strategy: MissingValueStrategy = "fill_with_const"
    fill_value: TextFillValue = ""
    computed_fill_value: ComputedFillValue = ""
    window_size: NonNegativeInt = Field(
        0, description="Number of previous rows that form the series. 0: each row holds a series."
    )


class TimeseriesOutputPreprocessing(Section):
    """Preprocessing of a target column of time series."""

    tokenizer: Tokenizer = "space"
    timeseries_length_limit: PositiveInt = Field(
        256, description="Maximum length in steps. Longer series are truncated."
    )
    padding_value: NonNegativeFloat = Field(0.0, description="Padding value of short series.")
    padding: PaddingSide = "right"
    missing_value_strategy: MissingValueStrategy = "drop_row"
    fill_value: TextFillValue = ""
    computed_fill_value: ComputedFillValue = ""
    horizon: NonNegativeInt = Field(
        0, description="Number of following rows that form the series. 0: each row holds a series."
    )
