"""Old names of the fields of encoders, decoders and combiners, and of their layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from trainwright_api.paths import Location
from trainwright_api.upgrade.draft import Draft

RENAMED: Mapping[str, str] = {
    "fc_size": "output_size",
    "transformer_fc_size": "transformer_output_size",
    "bias": "use_bias",
    "conv_bias": "conv_use_bias",
    "default_bias": "default_use_bias",
    "layers": "fc_layers",
}
OF_IMAGES: Mapping[str, str] = {
    "num_filters": "out_channels",
    "filter_size": "kernel_size",
    "strides": "stride",
    "dilation_rate": "dilation",
    "pool_size": "pool_kernel_size",
    "pool_strides": "pool_stride",
}
"""Fields of an image encoder on TensorFlow. The encoders of sequences have kept these names."""

_OF_CONVOLUTIONS = {
    **OF_IMAGES,
    "bias": "conv_use_bias",
    **{name: f"conv_{name}" for name in ("use_bias", "norm", "norm_params", "activation", "dropout")},
}
"""Fields of one entry of `conv_layers` of an image encoder."""

_OF_KERAS = " is dropped: Ludwig has it no longer"
REMOVED: Mapping[str, str] = {
    "weight_regularization": " is dropped: regularization is set by config.trainer.regularization_lambda",
    "regularize": " is dropped: regularization is set by config.trainer.regularization_lambda",
    **dict.fromkeys(("weights_regularizer", "bias_regularizer", "activity_regularizer"), _OF_KERAS),
    **dict.fromkeys(("embedding_regularizer", "kernel_regularizer"), _OF_KERAS),
    **dict.fromkeys(("weights_constraint", "bias_constraint", "use_keras_batch_norm"), _OF_KERAS),
}
"""Fields of Ludwig on TensorFlow (until 0.4), and the end of the sentence about each."""

_INITIALIZERS = {
    "glorot_uniform": "xavier_uniform",
    "glorot_normal": "xavier_normal",
    "he_uniform": "kaiming_uniform",
    "he_normal": "kaiming_normal",
}
_STACKS = ("fc_layers", "layers", "conv_layers", "stacked_layers")


def upgrade_layers(draft: Draft, at: Location, names: Mapping[str, str] = RENAMED) -> None:
    """Upgrade a section and the layers that it lists."""
    stacks = [place for stack in _STACKS for place in draft.sections((*at, stack))]
    for place in stacks:
        _upgrade_fields(draft, place, RENAMED)
    _upgrade_fields(draft, at, names)


def upgrade_image_encoder(draft: Draft, at: Location) -> None:
    """Upgrade the encoder of an image. Its convolutions have other names than those of a sequence."""
    for place in list(draft.sections((*at, "conv_layers"))):
        _upgrade_fields(draft, place, _OF_CONVOLUTIONS)
    upgrade_layers(draft, at, {**RENAMED, **OF_IMAGES})


def _upgrade_fields(draft: Draft, at: Location, names: Mapping[str, str]) -> None:
    for name, said in REMOVED.items():
        draft.drop((*at, name), said)
    for old, new in names.items():
        draft.rename(at, old, new)
    for name, value in list(draft.section(at).items()):
        if name.endswith("initializer"):
            _upgrade_initializer(draft, (*at, name), value)


def _upgrade_initializer(draft: Draft, at: Location, value: Any) -> None:
    where = (*at, "type") if isinstance(value, dict) else at
    word = draft.get(where)
    if isinstance(word, str) and word in _INITIALIZERS:
        draft.replace(where, _INITIALIZERS[word], f": {word} is read as {_INITIALIZERS[word]}")
