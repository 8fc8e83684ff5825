"""What every feature has, as an input and as an output."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.schema.choice import Chosen
from trainwright_api.schema.fields import Name, NoneWord, PositiveInt, ReductionWord
from trainwright_api.schema.section import relation

ReduceInput = Annotated[
    ReductionWord | None, NoneWord, Field(description="How a sequence at the input becomes one vector; null keeps it.")
]
ReduceDependencies = Annotated[
    ReductionWord | None,
    NoneWord,
    Field(description="How the sequences of the outputs it depends on become one vector; null keeps them."),
]


class Feature(Chosen):
    """A column of the data with a meaning; `type` names it."""

    name: Name = Field(description="Name of the feature, and of its column where column is absent.")
    column: Name | None = Field(None, description="Column of the data; null for the one that is called as the feature.")
    proc_column: Name | None = Field(
        None, description="Name of the encoded column; made from the preprocessing where null."
    )
    active: bool = Field(True, description="Whether the feature takes part.")


class BaseInput(Feature):
    """A feature that the model sees."""

    tied: Name | None = Field(None, description="Input of the same type whose encoder this one shares.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        """Cached embeddings are computed once: an encoder that training changes would be trained in vain."""
        caches = getattr(getattr(self, "preprocessing", None), "cache_encoder_embeddings", False)
        if caches and getattr(getattr(self, "encoder", None), "trainable", False):
            message = (
                "is true, and so is encoder.trainable: embeddings can be cached only where training leaves the "
                "encoder as it is. Set one of them to false"
            )
            yield relation(message, "preprocessing", "cache_encoder_embeddings", found=True)


class BaseOutput(Feature):
    """A feature that the model learns to predict."""

    reduce_input: ReduceInput = "sum"
    dependencies: list[Name] = Field(
        default_factory=list, description="Other outputs whose hidden state this one sees."
    )
    reduce_dependencies: ReduceDependencies = "sum"
    input_size: PositiveInt | None = Field(None, description="Width of the input; found from the model where null.")
    num_classes: PositiveInt | None = Field(None, description="Number of classes; found from the data where null.")
