"""A model and its training: the whole of `spec.config`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, Field, ModelWrapValidatorHandler, ValidationError, model_validator
from pydantic_core import InitErrorDetails

from trainwright_api.config.combiners import COMBINER, Combiner
from trainwright_api.config.data import PreprocessingConfig
from trainwright_api.config.features import InputFeature, OutputFeature
from trainwright_api.config.merge import OF_INPUTS, OF_OUTPUTS, merged
from trainwright_api.config.relations import mapping, mistakes_between
from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.schema.choice import Later, default_words
from trainwright_api.schema.fields import Name
from trainwright_api.schema.section import Section, details_of, unknown_word

_LLM = "Only for model_type llm."


def _word_ludwig(value: Any) -> Any:
    """The word asks for Ludwig's defaults throughout: for the output's own metric, too, however few the rows are."""
    if not isinstance(value, str):
        return value
    if value != "ludwig":
        raise unknown_word("trainer section", value, ["ludwig"])
    return {"validation_metric": None}


class ModelConfig(Section):
    """What to learn from what, and how; Ludwig's model config."""

    model_type: Literal["ecd", "llm"] = Field(
        "ecd", description="Encoders, combiner and decoders, or a language model."
    )
    input_features: list[InputFeature] = Field(min_length=1, description="What the model sees.")
    output_features: list[OutputFeature] = Field(min_length=1, description="What the model learns to predict.")
    combiner: Annotated[Combiner, COMBINER] = Field(
        default_factory=COMBINER.make, description="How the inputs' vectors become one."
    )
    trainer: Annotated[TrainerConfig, BeforeValidator(_word_ludwig)] = Field(
        default_factory=TrainerConfig,
        description="How the model is trained; absent for our recipe (docs/recipe.md), the word ludwig for Ludwig's "
        "defaults.",
    )
    preprocessing: PreprocessingConfig = Field(
        default_factory=PreprocessingConfig, description="Which rows are taken, and how they are divided."
    )
    defaults: Annotated[Section, Later("trainwright_api.config.defaults", "Defaults")] | None = Field(
        None, description="What holds for all features of a type, where a feature does not say otherwise."
    )
    hyperopt: Annotated[Section, Later("trainwright_api.config.hyperopt", "HyperoptConfig")] | None = Field(
        None, description="Search for good settings; null for none."
    )
    ludwig_version: str | None = Field(
        None, description="Version of Ludwig that the file was written for; it changes nothing."
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
        """What is wrong with a feature only once `defaults` has been merged into it."""
        if self.defaults is None:
            return
        features = {
            "input_features": merged(self.input_features, self.defaults, OF_INPUTS),
            "output_features": merged(self.output_features, self.defaults, OF_OUTPUTS),
        }
        try:
            ModelConfig.model_validate(features)
        except ValidationError as error:
            yield from details_of(error)

    @model_validator(mode="wrap")
    @classmethod
    def _with_default_words(cls, value: Any, handler: ModelWrapValidatorHandler[Self]) -> Self:
        with default_words(default_types(mapping(value))):
            return handler(value)


def default_types(config: Mapping[str, Any]) -> dict[str, str]:
    """What `defaults` of a config says of the types of encoders, decoders and losses, by the noun of their choice."""
    defaults = mapping(config.get("defaults"))
    found: dict[str, str] = {}
    for kind in defaults:
        for key, role in (("encoder", "feature"), ("decoder", "output"), ("loss", "output")):
            given = mapping(defaults[kind]).get(key)
            word = given if isinstance(given, str) else mapping(given).get("type")
            if isinstance(word, str):
                found[f"{key} of a {kind} {role}"] = word
    return found
