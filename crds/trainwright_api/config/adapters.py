"""Parameter-efficient adapters: few weights are trained instead of the pretrained ones."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from trainwright_api.schema.choice import Choice, Chosen
from trainwright_api.schema.fields import Fraction, NonNegativeInt, PositiveInt
from trainwright_api.schema.section import Section


class AdapterPostprocessor(Section):
    """The handling of the adapter after training."""

    merge_adapter_into_base_model: bool = Field(False, description="Merge the adapter into the model's weights.")
    progressbar: bool = Field(False, description="Show a progress bar during the merge.")


class Adapter(Chosen):
    """A parameter-efficient adapter. `type` selects it."""

    pretrained_adapter_weights: str | None = Field(
        None, description="Path or name of a pretrained adapter to start from."
    )
    postprocessor: AdapterPostprocessor = Field(
        default_factory=AdapterPostprocessor, description="How the adapter is handled after training."
    )


class LoraFields(Adapter):
    """LoRA: low-rank matrices are trained beside the frozen weights."""

    r: PositiveInt = Field(8, description="Rank of the low-rank matrices.")
    alpha: PositiveInt | None = Field(None, description="Scaling factor of the low-rank update. null: 2 × r.")
    dropout: Fraction = Field(0.05, description="Dropout rate of the adapter.")
    bias_type: Literal["none", "all", "lora_only"] = Field("none", description="Which bias parameters are trained.")
    target_modules: list[str] | None = Field(
        None, description="Names of the modules that get an adapter. null: the default ones of the model."
    )
    use_rslora: bool = Field(
        False, description="Divide the scaling factor by the square root of the rank (rank-stabilized LoRA)."
    )
    use_dora: bool = Field(False, description="Train the magnitude and the direction of the weights separately (DoRA).")


class Lora(LoraFields):
    """LoRA: low-rank matrices beside the frozen weights."""

    type: Literal["lora"] = Field("lora", description="LoRA: low-rank matrices beside the frozen weights.")


class Adalora(LoraFields):
    """AdaLoRA: the rank of each low-rank matrix is adapted during training."""

    type: Literal["adalora"] = Field(
        "adalora", description="AdaLoRA: the rank of each low-rank matrix is adapted during training."
    )
    target_r: PositiveInt = Field(8, description="Target mean rank at the end of training.")
    init_r: PositiveInt = Field(12, description="Initial rank of each matrix.")
    tinit: NonNegativeInt = Field(0, description="Number of steps before the first rank reduction.")
    tfinal: NonNegativeInt = Field(0, description="Number of final steps without rank reduction.")
    delta_t: NonNegativeInt = Field(1, description="Number of steps between two rank reductions.")
    beta1: Fraction = Field(0.85, description="Decay rate of the moving average of the sensitivity.")
    beta2: Fraction = Field(0.85, description="Decay rate of the moving average of the sensitivity's uncertainty.")
    orth_reg_weight: Fraction = Field(0.5, description="Coefficient of the orthogonality penalty.")
    total_step: PositiveInt = Field(10000, description="Total number of training steps.")
    rank_pattern: dict[str, Any] | None = Field(None, description="Rank of each module. Written by the training.")


class AdaptionPrompt(Adapter):
    """Adaption prompt: learned tokens in the upper transformer blocks."""

    type: Literal["adaption_prompt"] = Field(
        "adaption_prompt", description="Adaption prompt: learned tokens in the upper transformer blocks."
    )
    adapter_len: PositiveInt = Field(4, description="Number of learned tokens.")
    adapter_layers: PositiveInt = Field(1, description="Number of transformer blocks.")


class IA3(Adapter):
    """IA3: learned factors on keys, values and feed-forward layers."""

    type: Literal["ia3"] = Field("ia3", description="IA3: learned factors on keys, values and feed-forward layers.")
    target_modules: list[str] | None = Field(
        None, description="Names of the modules that get factors. null: the default ones of the model."
    )
    feedforward_modules: list[str] | None = Field(
        None, description="The modules of these that are feed-forward layers."
    )
    fan_in_fan_out: bool = Field(False, description="The model stores its weights as (input, output).")
    modules_to_save: list[str] | None = Field(None, description="Names of further modules that are trained and saved.")
    init_ia3_weights: bool = Field(True, description="Initialise the factors to 1.")


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
