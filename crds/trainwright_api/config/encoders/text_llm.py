"""A large language model as an encoder of text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from pydantic import Field
from pydantic_core import InitErrorDetails

from trainwright_api.config.encoders.sequence import SequenceEncoder
from trainwright_api.config.encoders.text import OptionalAdapter
from trainwright_api.schema.fields import Name, NonNegativeFloat, NonNegativeInt
from trainwright_api.schema.section import Section, relation


class Quantization(Section):
    """How the weights are kept in few bits."""

    bits: Literal[4, 8] = Field(4, description="Bits of a weight.")
    llm_int8_threshold: NonNegativeFloat = Field(6.0, description="Size from which a value is kept in 16 bits.")
    llm_int8_has_fp16_weight: bool = Field(False, description="Whether the weights are kept in 16 bits too.")
    bnb_4bit_compute_dtype: Literal["float32", "float16", "bfloat16"] = Field(
        "float16", description="Precision of the arithmetic."
    )
    bnb_4bit_use_double_quant: bool = Field(True, description="Whether the scales are quantised too.")
    bnb_4bit_quant_type: Literal["fp4", "nf4"] = Field("nf4", description="Kind of the four bits.")


class RopeScaling(Section):
    """How positions are stretched for longer texts."""

    rope_type: Literal["linear", "dynamic"] | None = Field(None, description="Kind of the stretching; null for none.")
    factor: Annotated[float, Field(gt=1)] | None = Field(None, description="By how much positions are stretched.")


class ModelParameters(Section):
    """Changes of the language model."""

    rope_scaling: RopeScaling = Field(default_factory=RopeScaling, description="How positions are stretched.")
    neftune_noise_alpha: NonNegativeInt | None = Field(
        0, description="Size of the noise on token vectors while training."
    )


class LLMEncoder(SequenceEncoder):
    """A large language model without its last layer."""

    type: Literal["llm"] = Field("llm", description="A large language model without its last layer.")
    base_model: Name | None = Field(None, description="Published model to begin with, or the folder of one.")
    adapter: OptionalAdapter = None
    quantization: Quantization | None = Field(None, description="How the weights are kept in few bits; null for not.")
    model_parameters: ModelParameters | None = Field(None, description="Changes of the model.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.base_model is None:
            yield relation("the encoder llm needs the name of a model", "base_model")
