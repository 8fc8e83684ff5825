"""The base classes of the pretrained text encoders, and the encoders without a model family of their own."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.adapters import ADAPTER, Adapter
from trainwright_api.config.encoders.image import SavedWeights, UsePretrained
from trainwright_api.config.encoders.sequence import SequenceEncoder
from trainwright_api.schema.fields import MaxSequenceLength, Name, ReduceOutput, Vocab, VocabSize, nullable
from trainwright_api.schema.section import relation

PretrainedName = Annotated[Name, Field(description="Name or folder of the pretrained model.")]
ReducePretrained = Annotated[
    Literal["cls_pooled", "last", "sum", "mean", "avg", "max", "concat", "attention"] | None,
    Field(description="Reduction of the token vectors to one vector. null: keep the sequence."),
]
OptionalAdapter = Annotated[
    Annotated[Adapter, ADAPTER] | None,
    Field(description="Parameter-efficient adapter. null: none."),
]


class PretrainedEncoder(SequenceEncoder):
    """A model of the transformers library."""

    use_pretrained: UsePretrained = True
    saved_weights_in_checkpoint: SavedWeights = False
    trainable: Annotated[bool, Field(description="Train the weights of the encoder. false: freeze them.")] = False
    adapter: OptionalAdapter = None
    reduce_output: ReducePretrained = "sum"
    vocab: Vocab = None
    vocab_size: VocabSize = None
    pretrained_kwargs: dict[str, Any] | None = Field(None, description="Further arguments of the pretrained model.")


class AutoTransformerEncoder(SequenceEncoder):
    """Any model of the transformers library, selected by name."""

    type: Literal["auto_transformer"] = Field("auto_transformer", description="Any model of the transformers library.")
    pretrained_model_name_or_path: PretrainedName | None = nullable(PretrainedName)
    reduce_output: ReduceOutput = "sum"
    trainable: Annotated[bool, Field(description="Train the weights of the encoder. false: freeze them.")] = False
    adapter: OptionalAdapter = None
    vocab: Vocab = None
    vocab_size: VocabSize = None
    pretrained_kwargs: dict[str, Any] | None = Field(None, description="Further arguments of the pretrained model.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.pretrained_model_name_or_path is None:
            yield relation("auto_transformer needs the name of a model", "pretrained_model_name_or_path")


class TfIdfEncoder(SequenceEncoder):
    """TF-IDF: token counts weighted by inverse document frequency."""

    type: Literal["tf_idf"] = Field("tf_idf", description="TF-IDF vector of the tokens.")
    max_sequence_length: MaxSequenceLength = None
    str2idf: dict[str, float] | None = Field(
        None, description="Inverse document frequency of each token. null: derived from the data."
    )
    vocab: Vocab = None
    vocab_size: VocabSize = None
