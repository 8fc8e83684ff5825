"""Old forms of the preprocessing section of a config, and of the preprocessing of one column."""

from __future__ import annotations

from trainwright_api.config.encoders import ENCODERS
from trainwright_api.paths import Location
from trainwright_api.upgrade.draft import Draft

CONFIG = ("spec", "config")
PREPROCESSING = (*CONFIG, "preprocessing")
DEFAULTS = (*CONFIG, "defaults")
TOKENS = ("sequence", "text", "audio", "timeseries")
_SPLIT = (*PREPROCESSING, "split")
FILLS = {"backfill": "bfill", "pad": "ffill"}
_TOKENIZING = {
    "tokenizer": "tokenizer",
    "vocab_file": "vocab_file",
    "most_common": "most_common",
    "sequence_length_limit": "max_sequence_length",
}
"""Fields that stood once for words and once for characters, with a prefix, and their names today."""


def upgrade_preprocessing(draft: Draft) -> None:
    """Parameters of a type, which belong to `defaults`, and the split."""
    types = _types(draft)
    for kind in ("numerical", *ENCODERS):
        if types and kind not in types:
            draft.drop((*PREPROCESSING, kind), " is dropped: no feature is of this type")
        _move_to_defaults(draft, kind)
    _upgrade_split(draft)
    if draft.get(PREPROCESSING) == {}:
        del draft.section(CONFIG)["preprocessing"]


def _types(draft: Draft) -> set[str]:
    """Return the types of all features. A number is also called numerical."""
    places = [at for key in ("input_features", "output_features") for at in draft.sections((*CONFIG, key))]
    types = {str(draft.section(at).get("type")) for at in places}
    return types | {"number", "numerical"} if types & {"number", "numerical"} else types


def upgrade_column(draft: Draft, at: Location, kind: str | None) -> None:
    """Upgrade the `preprocessing` of one feature, or of the defaults of a type."""
    strategy = (*at, "missing_value_strategy")
    word = draft.get(strategy)
    if isinstance(word, str) and word in FILLS:
        draft.replace(strategy, FILLS[word], f": {word} is read as {FILLS[word]}")
    if kind == "binary" and word == "fill_with_const":
        draft.replace(strategy, "fill_with_false", f": {word} is read as fill_with_false (fill_value still acts)")
    if kind == "category":
        draft.drop((*at, "tokenizer"), " is dropped: a category is not split into tokens")
    if kind == "audio":
        for name in list(draft.section((*at, "audio_feature"))):
            draft.move((*at, "audio_feature", name), (*at, name))
        if draft.get((*at, "audio_feature")) == {}:
            del draft.section(at)["audio_feature"]
    if kind in TOKENS:
        _upgrade_tokenizing(draft, at)


def _upgrade_tokenizing(draft: Draft, at: Location) -> None:
    draft.rename(at, "sequence_length_limit", "max_sequence_length")
    for name, new in _TOKENIZING.items():
        if f"word_{name}" in draft.section(at):
            draft.drop((*at, f"char_{name}"), f" is dropped: word_{name} is given")
        for prefix in ("word", "char"):
            draft.rename(at, f"{prefix}_{name}", new)


def _move_to_defaults(draft: Draft, kind: str) -> None:
    old: Location = (*PREPROCESSING, kind)
    new = (*DEFAULTS, "number" if kind == "numerical" else kind, "preprocessing")
    if isinstance(draft.get((*old, "preprocessing")), dict):
        _merge(draft, (*old, "preprocessing"), new)
    _merge(draft, old, new)


def _merge(draft: Draft, old: Location, new: Location) -> None:
    """Move a section, or each of its fields if the new section has some."""
    if not draft.section(new):
        draft.move(old, new)
    for name in list(draft.section(old)):
        draft.move((*old, name), (*new, name))
    if draft.get(old) == {}:
        del draft.section(old[:-1])[old[-1]]


def _upgrade_split(draft: Draft) -> None:
    old = [name for name in ("force_split", "split_probabilities", "stratify") if name in draft.section(PREPROCESSING)]
    if "split" in draft.section(PREPROCESSING):
        for name in old:
            draft.refuse((*PREPROCESSING, name), "the old spelling of split, which is given too: keep split")
        return
    for name in old:
        if draft.get((*PREPROCESSING, name)) is None:
            draft.drop((*PREPROCESSING, name), " is dropped: null is the default")
    draft.move((*PREPROCESSING, "split_probabilities"), (*_SPLIT, "probabilities"))
    if "stratify" in draft.section(PREPROCESSING):
        draft.move((*PREPROCESSING, "stratify"), (*_SPLIT, "column"))
        draft.put((*_SPLIT, "type"), "stratify", draft.origin((*_SPLIT, "column")))
    if "force_split" in draft.section(PREPROCESSING):
        origin = draft.origin((*PREPROCESSING, "force_split"))
        word = draft.section(_SPLIT).get("type", "random")
        draft.drop((*PREPROCESSING, "force_split"), f" is read as {{type: {word}}} of config.preprocessing.split")
        draft.put((*_SPLIT, "type"), word, origin)
