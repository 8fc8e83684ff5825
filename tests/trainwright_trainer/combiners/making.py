from __future__ import annotations

from typing import Any

from trainwright_api.config import ModelConfig, resolve
from trainwright_trainer.combiners import COMBINERS, CombinerInput

KINDS = {"number": 1, "binary": 1, "category": 3, "vector": 2}


def made(settings: dict[str, Any], **types: str) -> Any:
    """The combiner of a config section, for inputs of these types."""
    features = [{"name": name, "type": kind} for name, kind in types.items()]
    given = {"input_features": features, "output_features": [{"name": "y", "type": "binary"}], "combiner": settings}
    config = resolve(ModelConfig.model_validate(given)).combiner
    inputs = [CombinerInput(name, kind, KINDS[kind]) for name, kind in types.items()]
    return COMBINERS[type(config)](config, inputs, "config.combiner")
