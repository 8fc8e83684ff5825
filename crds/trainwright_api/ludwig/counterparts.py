"""The sections of the contract that correspond to the sections of Ludwig's schema."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cache

from trainwright_api.config import defaults, preprocessing
from trainwright_api.config.adapters import ADAPTER
from trainwright_api.config.augmentation import AUGMENTATION
from trainwright_api.config.combiners import COMBINER
from trainwright_api.config.data import SPLIT, PreprocessingConfig
from trainwright_api.config.decoders import DECODERS
from trainwright_api.config.encoders import ENCODERS, encoder_choice
from trainwright_api.config.hyperopt import HyperoptConfig, RayExecutor
from trainwright_api.config.hyperopt.parameter import PARAMETER
from trainwright_api.config.hyperopt.scheduler import SCHEDULER
from trainwright_api.config.hyperopt.search import SEARCH
from trainwright_api.config.inputs import INPUT
from trainwright_api.config.losses import LOSSES
from trainwright_api.config.model import ModelConfig
from trainwright_api.config.output import decoder_choice, loss_choice
from trainwright_api.config.outputs import OUTPUT
from trainwright_api.config.trainer import OPTIMIZER, GradientClipping, LearningRateScheduler, Profiler, TrainerConfig
from trainwright_api.ludwig.names import LudwigSection, ludwig_sections
from trainwright_api.schema.choice import Choice
from trainwright_api.schema.section import Section

_FIXED: Mapping[str, type[Section]] = {
    "config": ModelConfig,
    "trainer": TrainerConfig,
    "learning_rate_scheduler": LearningRateScheduler,
    "gradient_clipping": GradientClipping,
    "profiler": Profiler,
    "preprocessing": PreprocessingConfig,
    "hyperopt": HyperoptConfig,
    "executor": RayExecutor,
}
_OF_LLMS = {"category_llm": "category_output", "text_llm_input": "text", "text_llm_output": "text_output"}
"""Preprocessing of columns for large language models, and that of the same columns in the contract."""

_CHOICES = (
    *(ADAPTER, AUGMENTATION, COMBINER, SPLIT, OPTIMIZER, INPUT, OUTPUT),
    *(PARAMETER, SCHEDULER, SEARCH),
    *map(encoder_choice, ENCODERS),
    *(decoder_choice(kind, next(iter(words))) for kind, words in DECODERS.items()),
    *(loss_choice(kind, next(iter(words))) for kind, words in LOSSES.items()),
)
CHOICES: Mapping[str, Choice] = {choice.noun: choice for choice in _CHOICES}
"""The choices of the contract, by noun."""


def counterpart(section: LudwigSection) -> type[Section] | None:
    """Return the class of the contract for a section of Ludwig, or None if the contract does not have it."""
    kind, name = section.kind, section.name
    if kind in CHOICES:
        return CHOICES[kind].section(name) if name in CHOICES[kind].words else None
    if kind == "trainer of an llm":
        return TrainerConfig
    if kind == "preprocessing of a column":
        return getattr(preprocessing, f"{_camel(_OF_LLMS.get(name, name))}Preprocessing", None)
    return getattr(defaults, f"{_camel(name)}Defaults", None) if kind == "defaults" else _FIXED.get(name)


@cache
def fields_by_class() -> Mapping[str, frozenset[str]]:
    """Return the names that Ludwig has in the sections of the contract, by the name of the class."""
    found: defaultdict[str, set[str]] = defaultdict(set)
    for section in ludwig_sections():
        if our := counterpart(section):
            found[our.__name__].update(section.fields)
    return {name: frozenset(fields) for name, fields in found.items()}


@cache
def words_of_choice(noun: str) -> frozenset[str]:
    """Return the words that Ludwig has for a choice of the contract."""
    return frozenset(section.name for section in ludwig_sections() if section.kind == noun)


def _camel(name: str) -> str:
    return "".join(part.capitalize() for part in name.split("_"))
