"""A notice for each encoder whose weights are neither pretrained nor trained: its output is as random as they are."""

from __future__ import annotations

from collections.abc import Iterator

from trainwright_api.config.resolve import resolve
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.stages import TRAINING


def random_weights(spec: TrainingJobSpec) -> Iterator[str]:
    """Yield the notices of a valid job. With `resumeFrom`, the weights may be those of another run."""
    if spec.config is None or spec.task not in TRAINING or spec.resume_from is not None:
        return
    config = spec.config if spec.config.defaults is None else resolve(spec.config)
    for position, feature in enumerate(config.input_features):
        encoder = getattr(feature, "encoder", None)
        is_open = getattr(encoder, "use_pretrained", True) or getattr(encoder, "trainable", True)
        if not is_open and getattr(encoder, "adapter", None) is None:
            place = f"config.input_features[{position}].encoder"
            yield f"{place}: use_pretrained and trainable are false, so the encoder keeps random weights"
