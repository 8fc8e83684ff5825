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

Skip = Annotated[bool, Field(description="Leave the encoder out and hand its input on.")]
InputSize = Annotated[PositiveInt | None, Field(description="Width of the input; found from the model where null.")]
OutputSize = Annotated[PositiveInt, Field(description="Width of the output, and of each layer that names no own.")]
Dropout = Annotated[Fraction, Field(description="Share of the activations set to zero while training, 0 to 1.")]
Activation = Annotated[ActivationWord | None, Field(description="Function after each layer; null for none.")]
UseBias = Annotated[bool, Field(description="Whether layers add a bias vector.")]
Residual = Annotated[bool, Field(description="Whether each layer of the stack adds its input to its output.")]
Norm = Annotated[NormWord | None, Field(description="Normalisation after each layer, before its activation.")]
BatchOrLayerNorm = Annotated[
    Literal["batch", "layer"] | None, Field(description="Normalisation after each layer, before its activation.")
]
NumFcLayers = Annotated[NonNegativeInt, Field(description="Number of stacked fully connected layers.")]
OptionalNumFcLayers = Annotated[
    PositiveInt | None,
    Field(description="Number of stacked fully connected layers; null for the encoder's own choice."),
]
NumLayers = Annotated[PositiveInt, Field(description="Number of stacked layers.")]

Vocab = Annotated[list[str] | None, Field(description="The vocabulary; found from the data where null.")]
VocabSize = Annotated[PositiveInt | None, Field(description="Size of the vocabulary; found from the data where null.")]
EmbeddingSize = Annotated[PositiveInt, Field(description="Width of each value's embedding.")]
EmbeddingsOnCpu = Annotated[bool, Field(description="Keep the embeddings in main memory even where a GPU is used.")]
EmbeddingsTrainable = Annotated[bool, Field(description="Whether training changes the embeddings.")]
PretrainedEmbeddings = Annotated[
    str | None, Field(description="File of embeddings to start from, in GloVe's text format.")
]
Representation = Annotated[
    Literal["dense", "sparse"], Field(description="Learnt embeddings (dense) or one column a value (sparse).")
]
MaxSequenceLength = Annotated[
    PositiveInt | None, Field(description="Longest sequence, in tokens; taken from the preprocessing where null.")
]
ReduceOutput = Annotated[
    ReductionWord | None,
    NoneWord,
    Field(description="How the steps of a sequence become one vector; null keeps them."),
]


def nullable(kind: Any, default: Any = None) -> Any:
    """Return a field that can be null, with the description of its type: `x: Kind | None = nullable(Kind)`."""
    described = [mark.description for mark in get_args(kind) if isinstance(mark, FieldInfo) and mark.description]
    return Field(default, description=described[-1])
