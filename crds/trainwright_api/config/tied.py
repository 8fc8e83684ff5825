"""Inputs that share an encoder: a tied input takes the encoder of its root, the end of its chain of `tied`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic_core import InitErrorDetails

from trainwright_api.config.feature import Feature
from trainwright_api.schema.section import relation


def root_of(feature: Feature, features: Sequence[Feature]) -> Feature:
    """Return the input whose encoder this one uses: itself if it is not tied, or not to an input of its type."""
    named, root, seen = {one.name: one for one in features}, feature, {feature.name}
    while (other := named.get(getattr(root, "tied", None) or "")) is not None:
        if other.name in seen:
            return feature
        seen.add(other.name)
        root = other
    return root if root.type == feature.type else feature


def encoder_mistakes(inputs: Sequence[Feature]) -> Iterator[InitErrorDetails]:
    """Yield the encoders that tied inputs give in vain. Ludwig writes the default one into a config without one."""
    for position, feature in enumerate(inputs):
        root = root_of(feature, inputs)
        own, default = getattr(feature, "encoder", None), type(feature).model_fields["encoder"]
        if own not in (getattr(root, "encoder", None), default.get_default(call_default_factory=True)):
            message = f"is not that of {root.name!r}, which this input is tied to: leave it out"
            yield relation(message, "input_features", position, "encoder")
