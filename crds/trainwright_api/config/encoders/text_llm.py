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
    """Quantization of the weights."""

    bits: Literal[4, 8] = Field(4, description="Number of bits of a weight.")
    llm_int8_threshold: NonNegativeFloat = Field(
        6.0, description="Outlier threshold: larger activations are computed in 16 bits."
    )
    llm_int8_has_fp16_weight: bool = Field(False, description="Also keep the weights in 16 bits.")
    bnb_4bit_compute_dtype: Literal["float32", "float16", "bfloat16"] = Field(
        "float16", description="Data type of the computation."
    )
    bnb_4bit_use_double_quant: bool = Field(True, description="Quantize the scales as well.")
    bnb_4bit_quant_type: Literal["fp4", "nf4"] = Field("nf4", description="Data type of 4-bit weights.")


class RopeScaling(Section):
    """Scaling of the rotary position embeddings for longer texts."""

    rope_type: Literal["linear", "dynamic"] | None = Field(None, description="Type of the scaling. null: none.")
    factor: Annotated[float, Field(gt=1)] | None = Field(None, description="Scaling factor.")


class ModelParameters(Section):
    """Changes to the parameters of the language model."""

    rope_scaling: RopeScaling = Field(
        default_factory=RopeScaling, description="Scaling of the rotary position embeddings."
    )
    neftune_noise_alpha: NonNegativeInt | None = Field(
        0, description="Magnitude of the noise on the embeddings during training (NEFTune)."
    )


class LLMEncoder(SequenceEncoder):
    """A large language model without its output layer."""

    type: Literal["llm"] = Field("llm", description="A large language model without its output layer.")
    base_model: Name | None = Field(None, description="Name or folder of the pretrained model.")
    adapter: OptionalAdapter = None
    quantization: Quantization | None = Field(None, description="Quantization of the weights. null: none.")
    model_parameters: ModelParameters | None = Field(None, description="Changes to the parameters of the model.")

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.base_model is None:
            yield relation("the encoder llm needs the name of a model", "base_model")
