"""A model and its training: the whole of `spec.config`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic_core import InitErrorDetails

from trainwright_api.config.combiners import COMBINER, Combiner
from trainwright_api.config.data import PreprocessingConfig
from trainwright_api.config.features import InputFeature, OutputFeature
from trainwright_api.config.lengths import length_mistakes
from trainwright_api.config.merge import OF_INPUTS, OF_OUTPUTS, merged
from trainwright_api.config.outlines import mapping
from trainwright_api.config.relations import mistakes_between
from trainwright_api.config.tied import encoder_mistakes
from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.schema.choice import Later, default_words
from trainwright_api.schema.fields import Name
from trainwright_api.schema.section import Section, details_of, unknown_word

_LLM = "Only for model_type llm."


def _word_ludwig(value: Any) -> Any:
    """The word selects all of Ludwig's defaults, including the metric of the output for any number of rows."""
    if not isinstance(value, str):
        return value
    if value != "ludwig":
        raise unknown_word("trainer section", value, ["ludwig"])
    return {"validation_metric": None}


class ModelConfig(Section):
    """The model config, as in Ludwig."""

    model_type: Literal["ecd", "llm"] = Field(
        "ecd", description="ecd: encoders, combiner and decoders. llm: a large language model."
    )
    input_features: list[InputFeature] = Field(min_length=1, description="The input features.")
    output_features: list[OutputFeature] = Field(min_length=1, description="The output features.")
    combiner: Annotated[Combiner, COMBINER] = Field(
        default_factory=COMBINER.make, description="The combiner of the encoder outputs."
    )
    trainer: Annotated[TrainerConfig, BeforeValidator(_word_ludwig)] = Field(
        default_factory=TrainerConfig,
        description="The training parameters. Absent: our recipe (docs/recipe.md). The word ludwig: Ludwig's defaults.",
    )
    preprocessing: PreprocessingConfig = Field(
        default_factory=PreprocessingConfig, description="Sampling of the rows and the split."
    )
    defaults: Annotated[Section, Later("trainwright_api.config.defaults", "Defaults")] | None = Field(
        None, description="Defaults of all features of a type."
    )
    hyperopt: Annotated[Section, Later("trainwright_api.config.hyperopt", "HyperoptConfig")] | None = Field(
        None, description="Hyperparameter search. null: none."
    )
    ludwig_version: str | None = Field(
        None, description="Version of Ludwig that the file was written for. It has no effect."
    )
    base_model: Name | None = Field(None, description=_LLM)
    prompt: dict[str, Any] | None = Field(None, description=_LLM)
    generation: dict[str, Any] | None = Field(None, description=_LLM)
    adapter: dict[str, Any] | None = Field(None, description=_LLM)
    quantization: dict[str, Any] | None = Field(None, description=_LLM)
    model_parameters: dict[str, Any] | None = Field(None, description=_LLM)

    @classmethod
    def mistakes_in(cls, values: Mapping[str, Any]) -> Iterator[InitErrorDetails]:
        yield from mistakes_between(values)

    def mistakes(self) -> Iterator[InitErrorDetails]:
        """Yield mistakes of features that arise from the merge with `defaults`, and those of tied inputs."""
        if self.defaults is None:
            yield from encoder_mistakes(self.input_features)
            yield from length_mistakes(self.input_features, "input_features")
            yield from length_mistakes(self.output_features, "output_features")
            return
        whole = {
            "input_features": merged(self.input_features, self.defaults, OF_INPUTS),
            "output_features": merged(self.output_features, self.defaults, OF_OUTPUTS),
            **({"combiner": self.combiner} if "combiner" in self.model_fields_set else {}),
        }
        try:
            ModelConfig.model_validate(whole)
        except ValidationError as error:
            yield from details_of(error)

    @model_validator(mode="wrap")
    @classmethod
    def _with_default_words(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        with default_words(default_types(mapping(value))):
            return handler(value)


def default_types(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the types of encoders, decoders and losses that `defaults` sets, by the noun of their choice."""
    defaults = mapping(config.get("defaults"))
    found: dict[str, str] = {}
    for kind in defaults:
        for key, role in (("encoder", "feature"), ("decoder", "output"), ("loss", "output")):
            given = mapping(defaults[kind]).get(key)
            word = given if isinstance(given, str) else mapping(given).get("type")
            if isinstance(word, str):
                found[f"{key} of a {kind} {role}"] = word
    return found
