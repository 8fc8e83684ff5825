"""Field types that many sections share: type, range and description.

A class adds only the default: `dropout: Dropout = 0.0`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, get_args

from pydantic import BeforeValidator, Field, StringConstraints
from pydantic.fields import FieldInfo

PositiveInt = Annotated[int, Field(ge=1)]
NonNegativeInt = Annotated[int, Field(ge=0)]
PositiveFloat = Annotated[float, Field(gt=0)]
NonNegativeFloat = Annotated[float, Field(ge=0)]
Fraction = Annotated[float, Field(ge=0, le=1)]
Name = Annotated[str, StringConstraints(min_length=1)]
Auto = Literal["auto"]


def _read_none(value: Any) -> Any:
    return None if value in ("none", "None") else value


NoneWord = BeforeValidator(_read_none)
"""Reads the word none as null, as Ludwig does for some fields."""

ActivationWord = Literal["elu", "leakyRelu", "logSigmoid", "relu", "sigmoid", "tanh", "softmax"]
ReductionWord = Literal["last", "sum", "mean", "avg", "max", "concat", "attention"]
NormWord = Literal["batch", "layer", "ghost"]

Skip = Annotated[bool, Field(description="Skip the encoder.")]
InputSize = Annotated[PositiveInt | None, Field(description="Width of the input. null: derived from the model.")]
OutputSize = Annotated[PositiveInt, Field(description="Width of the output and of each layer without its own width.")]
Dropout = Annotated[Fraction, Field(description="Dropout rate of the activations, 0 to 1.")]
Activation = Annotated[ActivationWord | None, Field(description="Activation function of each layer. null: none.")]
UseBias = Annotated[bool, Field(description="Layers have a bias.")]
Residual = Annotated[bool, Field(description="Add a residual connection to each layer.")]
Norm = Annotated[NormWord | None, Field(description="Normalization of each layer, before the activation.")]
BatchOrLayerNorm = Annotated[
    Literal["batch", "layer"] | None, Field(description="Normalization of each layer, before the activation.")
]
NumFcLayers = Annotated[NonNegativeInt, Field(description="Number of stacked fully connected layers.")]
OptionalNumFcLayers = Annotated[
    PositiveInt | None,
    Field(description="Number of stacked fully connected layers. null: the default of the encoder."),
]
NumLayers = Annotated[PositiveInt, Field(description="Number of stacked layers.")]

Vocab = Annotated[list[str] | None, Field(description="The vocabulary. null: derived from the data.")]
VocabSize = Annotated[PositiveInt | None, Field(description="Size of the vocabulary. null: derived from the data.")]
EmbeddingSize = Annotated[PositiveInt, Field(description="Embedding size.")]
EmbeddingsOnCpu = Annotated[bool, Field(description="Keep the embeddings in CPU memory.")]
EmbeddingsTrainable = Annotated[bool, Field(description="Train the embeddings. false: freeze them.")]
PretrainedEmbeddings = Annotated[
    str | None,
    Field(
        description="File of pretrained embeddings of embedding_size numbers, in GloVe's text format, on each worker."
    ),
]
Representation = Annotated[
    Literal["dense", "sparse"], Field(description="dense: learned embeddings. sparse: one-hot vectors.")
]
MaxSequenceLength = Annotated[
    PositiveInt | None, Field(description="Maximum sequence length in tokens. null: taken from the preprocessing.")
]
ReduceOutput = Annotated[
    ReductionWord | None,
    NoneWord,
    Field(description="Reduction of a sequence to one vector. null: keep the sequence."),
]


def nullable(kind: Any, default: Any = None) -> Any:
    """Return a field that can be null, with the description of its type: `x: Kind | None = nullable(Kind)`."""
    described = [mark.description for mark in get_args(kind) if isinstance(mark, FieldInfo) and mark.description]
    return Field(default, description=described[-1])
