"""Few weights that are trained in place of a published model's own."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from trainwright_api.schema.choice import Choice, Chosen
from trainwright_api.schema.fields import Fraction, NonNegativeFloat, NonNegativeInt, PositiveInt
from trainwright_api.schema.section import Section


class AdapterPostprocessor(Section):
    """What happens to the adapter after training."""

    merge_adapter_into_base_model: bool = Field(False, description="Whether the model's own weights take it up.")
    progressbar: bool = Field(False, description="Whether that is shown.")


class Adapter(Chosen):
    """An adapter; `type` names it."""

    pretrained_adapter_weights: str | None = Field(None, description="Adapter to begin with.")
    postprocessor: AdapterPostprocessor = Field(
        default_factory=AdapterPostprocessor, description="What happens to it after training."
    )


class LoraFields(Adapter):
    """Matrices of low rank beside the model's own."""

    r: PositiveInt = Field(8, description="Rank of the matrices.")
    alpha: PositiveInt | None = Field(None, description="Factor on the matrices; null for 2 × r.")
    dropout: NonNegativeFloat = Field(0.05, description="Dropout of the adapter.")
    bias_type: Literal["none", "all", "lora_only"] = Field("none", description="Which biases are trained.")
    target_modules: list[str] | None = Field(None, description="Modules that get an adapter; null for the usual ones.")
    use_rslora: bool = Field(False, description="Whether the factor grows with the root of the rank.")
    use_dora: bool = Field(False, description="Whether size and direction are trained apart.")


class Lora(LoraFields):
    """Matrices of low rank."""

    type: Literal["lora"] = Field("lora", description="Matrices of low rank.")


class Adalora(LoraFields):
    """Matrices whose ranks are found while training."""

    type: Literal["adalora"] = Field("adalora", description="Matrices whose ranks are found while training.")
    target_r: PositiveInt = Field(8, description="Mean rank at the end.")
    init_r: PositiveInt = Field(12, description="Rank at the beginning.")
    tinit: NonNegativeInt = Field(0, description="Steps before ranks are lowered.")
    tfinal: NonNegativeInt = Field(0, description="Steps after ranks were lowered.")
    delta_t: NonNegativeInt = Field(1, description="Steps from one lowering to the next.")
    beta1: Fraction = Field(0.85, description="Decay of the sensitivity's average.")
    beta2: Fraction = Field(0.85, description="Decay of its uncertainty's average.")
    orth_reg_weight: Fraction = Field(0.5, description="Factor of the penalty that keeps matrices orthogonal.")
    total_step: PositiveInt = Field(10000, description="Steps of the whole training.")
    rank_pattern: dict[str, Any] | None = Field(None, description="Rank of each module, as it was found.")


class AdaptionPrompt(Adapter):
    """Learnt tokens in the upper blocks."""

    type: Literal["adaption_prompt"] = Field("adaption_prompt", description="Learnt tokens in the upper blocks.")
    adapter_len: PositiveInt = Field(4, description="Number of tokens.")
    adapter_layers: PositiveInt = Field(1, description="Number of blocks.")


class IA3(Adapter):
    """Learnt factors on keys, values and hidden layers."""

    type: Literal["ia3"] = Field("ia3", description="Learnt factors on keys, values and hidden layers.")
    target_modules: list[str] | None = Field(None, description="Modules that get factors; null for the usual ones.")
    feedforward_modules: list[str] | None = Field(None, description="Those of them that are fully connected layers.")
    fan_in_fan_out: bool = Field(False, description="Whether weights are stored transposed.")
    modules_to_save: list[str] | None = Field(None, description="Modules that are trained besides.")
    init_ia3_weights: bool = Field(True, description="Whether the factors begin at 1.")


ADAPTER = Choice(
    "adapter",
    "trainwright_api.config",
    {
        "lora": "adapters.Lora",
        "adalora": "adapters.Adalora",
        "adaption_prompt": "adapters.AdaptionPrompt",
        "ia3": "adapters.IA3",
    },
    default="lora",
)
