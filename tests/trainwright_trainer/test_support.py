"""The contract's table of support is what the trainer's registries have: neither knows a word that the other lacks."""

from __future__ import annotations

from typing import Any, get_args

import pytest

from trainwright_api.checks import support
from trainwright_api.resource.backend import BACKENDS, ProcessorName
from trainwright_api.schema.fields import NormWord
from trainwright_trainer.backends.ray.processors import PROCESSORS
from trainwright_trainer.combiners import COMBINERS
from trainwright_trainer.data.split_assignment import BUILT as SPLITS
from trainwright_trainer.decoders import DECODERS
from trainwright_trainer.encoders import ENCODERS
from trainwright_trainer.features.registry import FEATURES
from trainwright_trainer.layers.normalisation import NORMS
from trainwright_trainer.losses import LOSSES
from trainwright_trainer.metrics.model import TYPES
from trainwright_trainer.optim.optimizers import BUILT as OPTIMIZERS
from trainwright_trainer.strategies import STRATEGIES
from trainwright_trainer.tasks.run import TRAINING_BACKENDS


@pytest.mark.parametrize(
    ("table", "registry"),
    [
        pytest.param(support.BACKENDS, TRAINING_BACKENDS, id="backends"),
        pytest.param(
            [word for name in support.BACKENDS for word in BACKENDS[name].strategies], STRATEGIES, id="strategies"
        ),
        pytest.param(get_args(ProcessorName), PROCESSORS, id="processors"),
        pytest.param(support.SPLITS, SPLITS, id="splits"),
        pytest.param(support.INPUTS, FEATURES, id="inputs"),
        pytest.param(support.OUTPUTS, TYPES, id="outputs"),
        pytest.param(support.DECODERS, DECODERS, id="decoders"),
        pytest.param(support.LOSSES, LOSSES, id="losses"),
        pytest.param(support.OPTIMIZERS, OPTIMIZERS, id="optimizers"),
        pytest.param(get_args(NormWord), NORMS, id="norms"),
        pytest.param(
            [(kind, word) for kind, words in support.ENCODERS.items() for word in words], ENCODERS, id="encoders"
        ),
        pytest.param(
            support.COMBINERS, [section.model_fields["type"].default for section in COMBINERS], id="combiners"
        ),
    ],
)
def test_the_words_are_those_of_the_registry(table: Any, registry: Any) -> None:
    assert set(table) == set(registry)
