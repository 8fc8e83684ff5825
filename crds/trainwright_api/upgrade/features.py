"""Old forms of the features, and of their defaults."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from trainwright_api.config.inputs import INPUT
from trainwright_api.config.model import default_types
from trainwright_api.config.outputs import OUTPUT
from trainwright_api.paths import Location
from trainwright_api.schema.choice import Choice
from trainwright_api.schema.field_schema import schema_of
from trainwright_api.schema.section import Section
from trainwright_api.upgrade.draft import Draft
from trainwright_api.upgrade.layers import OF_IMAGES, REMOVED, RENAMED, upgrade_image_encoder, upgrade_layers
from trainwright_api.upgrade.preprocessing import CONFIG, DEFAULTS, TOKENS, upgrade_column

_OF_DECODERS: Mapping[str, str] = {**RENAMED, "fc_size": "fc_output_size"}
_OF_IMAGES: Mapping[str, str] = {**RENAMED, **OF_IMAGES}
_OF_STACK = ("use_bias", "weights_initializer", "bias_initializer", "norm", "norm_params", "activation", "dropout")
"""Fields beside an output that set its fully connected layers, with the prefix fc_ in a decoder, and its last layer."""

_BINARY = "binary_weighted_cross_entropy"
LOSSES: Mapping[str, Mapping[str, str]] = {
    "binary": {"cross_entropy": _BINARY, "softmax_cross_entropy": _BINARY},
    "category": {"cross_entropy": "softmax_cross_entropy"},
}
"""Old names of the losses, by the type of the output."""

LEGACY = {"resnet": "_resnet_legacy", "vit": "_vit_legacy"}
_HASH = 6
"""The length of the hash at the end of a `proc_column` that Ludwig has written."""


def upgrade_features(draft: Draft) -> None:
    """Names of types, and fields beside a feature that belong to its encoder or decoder."""
    types = default_types(draft.section(CONFIG))
    for features, choice, role in (("input_features", INPUT, "encoder"), ("output_features", OUTPUT, "decoder")):
        for at in list(draft.sections((*CONFIG, features))):
            _upgrade_feature(draft, at)
            _nest(draft, at, choice, role, types)
            _upgrade_parts(draft, at, draft.section(at).get("type"))
    for kind in list(draft.section(DEFAULTS)):
        at = (*DEFAULTS, kind)
        if kind not in INPUT.words:
            continue
        draft.drop((*at, "type"), " is dropped: the key is the type")
        _upgrade_parts(draft, at, kind)


def _upgrade_feature(draft: Draft, at: Location) -> None:
    feature = draft.section(at)
    if feature.get("type") == "numerical":
        draft.replace((*at, "type"), "number", ": numerical is read as number")
    draft.rename(at, "tied_weights", "tied")
    if feature.get("type") == "category" and feature.get("representation") in ("dense", "sparse"):
        draft.rename(at, "representation", "encoder")
    if feature.get("type") in TOKENS:
        _upgrade_level(draft, at)
    if feature.get("type") == "image":
        _upgrade_legacy(draft, at)
    if _is_generated(feature):
        draft.drop((*at, "proc_column"), " is dropped: Ludwig generated it")


def _is_generated(feature: Mapping[str, Any]) -> bool:
    """Return True if `proc_column` is the name of the column, with or without Ludwig's hash.

    Ludwig replaces what is no letter, digit, dash or dot in the name by an underscore.
    """
    name = feature.get("proc_column")
    own = [_plain(feature.get(key)) for key in ("name", "column") if isinstance(feature.get(key), str)]
    return isinstance(name, str) and (_plain(name) in own or _plain(name[: -_HASH - 1]) in own)


def _plain(name: Any) -> str:
    return re.sub(r"[^\w.-]", "_", str(name))


def _upgrade_level(draft: Draft, at: Location) -> None:
    """Read the level of a text as its tokenizer."""
    level = draft.section(at).get("level")
    if level == "char":
        origin = draft.origin((*at, "level"))
        draft.drop((*at, "level"), ": char is read as {tokenizer: characters} of preprocessing")
        if "tokenizer" not in draft.section((*at, "preprocessing")):
            draft.put((*at, "preprocessing", "tokenizer"), "characters", origin)
    elif level == "word":
        draft.drop((*at, "level"), ": word is dropped: it is the default")


def _upgrade_parts(draft: Draft, at: Location, kind: Any) -> None:
    upgrade_column(draft, (*at, "preprocessing"), kind)
    upgrade_encoder = upgrade_image_encoder if kind == "image" else upgrade_layers
    upgrade_encoder(draft, (*at, "encoder"))
    upgrade_layers(draft, (*at, "decoder"), _OF_DECODERS)
    _upgrade_loss(draft, at, kind)


def _upgrade_loss(draft: Draft, at: Location, kind: Any) -> None:
    where = (*at, "loss", "type") if isinstance(draft.get((*at, "loss")), dict) else (*at, "loss")
    word = draft.get(where)
    names = LOSSES.get(kind, {}) if isinstance(kind, str) else {}
    if isinstance(word, str) and word in names:
        draft.replace(where, names[word], f": {word} is read as {names[word]}")
    weights = draft.section((*at, "loss")).get("class_weights")
    if isinstance(weights, int | float):
        draft.drop((*at, "loss", "class_weights"), f": {weights} is dropped: a weight for each class is needed")


def _nest(draft: Draft, at: Location, features: Choice, role: str, types: Mapping[str, str]) -> None:
    """Move fields beside a feature into its encoder, its decoder or its preprocessing."""
    kind = draft.section(at).get("type")
    if not isinstance(kind, str) or kind not in features.words:
        return
    section = features.section(kind)
    choice = _choice(section, role)
    flat = [name for name in draft.section(at) if name not in section.known_keys()]
    word = _word(draft, (*at, role), types.get(choice.noun, choice.default or ""))
    if word not in choice.words:
        return
    known = choice.section(word).known_keys()
    of_column = schema_of(section.model_fields["preprocessing"]).section.known_keys()
    for name in flat:
        if name in REMOVED:
            draft.drop((*at, name), REMOVED[name])
            continue
        targets = _targets(name, role, kind)
        if any(target in known for target in targets):
            _move_into(draft, (*at, name), (*at, role), [target for target in targets if target in known])
        elif name in of_column:
            draft.move((*at, name), (*at, "preprocessing", name))
        elif any(target in choice.section(other).known_keys() for other in choice.words for target in targets):
            draft.drop((*at, name), f" is dropped: {role} {word} does not have it")


def _choice(section: type[Section], role: str) -> Choice:
    choice = schema_of(section.model_fields[role]).choice
    assert choice is not None
    return choice


def _word(draft: Draft, at: Location, default: str) -> str:
    given = draft.get(at)
    word = given.get("type", default) if isinstance(given, dict) else default if given is None else given
    return word if isinstance(word, str) else ""


def _targets(name: str, role: str, kind: str) -> list[str]:
    """Return the names that a field beside a feature has in the encoder or decoder."""
    new = (_OF_IMAGES if kind == "image" else RENAMED).get(name, name)
    if role == "encoder":
        return [new]
    return ["fc_output_size"] if new == "output_size" else [f"fc_{new}", new] if new in _OF_STACK else [new]


def _move_into(draft: Draft, old: Location, part: Location, targets: list[str]) -> None:
    """Move a value into an encoder or decoder, under all of its names. A word becomes a section."""
    draft.as_section(part)
    value, origin = draft.get(old), draft.origin(old)
    draft.move(old, (*part, targets[0]))
    for name in targets[1:]:
        if name not in draft.section(part):
            draft.put((*part, name), value, origin)


def _upgrade_legacy(draft: Draft, at: Location) -> None:
    """Keep Ludwig's own ResNet and ViT (until 0.6) where a field shows that they are meant."""
    part = (*at, "encoder")
    word = _word(draft, part, "")
    if word not in LEGACY:
        return
    choice = _choice(INPUT.section("image"), "encoder")
    own = set(choice.section(LEGACY[word]).known_keys()) - set(choice.section(word).known_keys())
    if own & {*draft.section(at), *draft.section(part)}:
        where = (*part, "type") if isinstance(draft.get(part), dict) else part
        draft.replace(where, LEGACY[word], f": {word} is read as {LEGACY[word]}")
