"""The common fields of input and output features."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.schema.choice import Chosen
from trainwright_api.schema.fields import Name, NoneWord, PositiveInt, ReductionWord
from trainwright_api.schema.section import relation

ReduceInput = Annotated[
    ReductionWord | None,
    NoneWord,
    Field(description="Reduction of an input sequence to one vector. null: keep the sequence."),
]
ReduceDependencies = Annotated[
    ReductionWord | None,
    NoneWord,
    Field(description="Reduction of the sequences of the outputs in `dependencies`. null: keep them."),
]


class Feature(Chosen):
    """A feature: a column of the data set. `type` selects its type."""

    name: Name = Field(description="Name of the feature. Also the name of its column unless `column` is set.")
    column: Name | None = Field(None, description="Name of the column. null: the name of the feature.")
    proc_column: Name | None = Field(
        None, description="Name of the encoded column. null: derived from the preprocessing parameters."
    )
    active: bool = Field(True, description="Use this feature. false: ignore it.")


class BaseInput(Feature):
    """An input feature."""

    tied: Name | None = Field(
        None,
        description="Name of an input of the same type, whose encoder this one shares. "
        "Values that only this one has are read as unknown.",
    )


class EmbeddedInput(BaseInput):
    """An input whose embeddings can be cached."""

    def mistakes(self) -> Iterator[InitErrorDetails]:
        """Embeddings are cached once, so the training of the encoder would have no effect."""
        if self.tied is not None and "encoder" not in self.model_fields_set:
            return  # its encoder is that of another input
        caches = getattr(getattr(self, "preprocessing", None), "cache_encoder_embeddings", False)
        if caches and (reason := _trained_part(getattr(self, "encoder", None))):
            message = f"is true, {reason}: embeddings can be cached only where training leaves the encoder as it is"
            yield relation(message, "preprocessing", "cache_encoder_embeddings", found=True)


def _trained_part(encoder: object) -> str:
    """The part of an encoder that is trained, for a message; "" if there is none."""
    if not hasattr(encoder, "trainable"):
        return f"and {getattr(encoder, 'type', '')!r} is always trained"
    if encoder.trainable:
        return "and so is encoder.trainable"
    return "" if getattr(encoder, "adapter", None) is None else "and encoder.adapter is trained"


class BaseOutput(Feature):
    """An output feature."""

    reduce_input: ReduceInput = "sum"
    dependencies: list[Name] = Field(
        default_factory=list, description="Names of other outputs whose hidden state is an input of this one."
    )
    reduce_dependencies: ReduceDependencies = "sum"
    input_size: PositiveInt | None = Field(None, description="Width of the input. null: derived from the model.")
    num_classes: PositiveInt | None = Field(None, description="Number of classes. null: derived from the data.")
