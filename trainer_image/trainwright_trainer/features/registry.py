"""The registry of feature types and their modules. A new type is one file, and one line here."""

from __future__ import annotations

from trainwright_trainer.errors import not_built
from trainwright_trainer.features import binary, category, date, image, number, set, text, vector
from trainwright_trainer.features.column import FeatureType

FEATURES: dict[str, FeatureType] = {
    "number": number,
    "binary": binary,
    "category": category,
    "date": date,
    "vector": vector,
    "set": set,
    "bag": set,
    "sequence": text,
    "text": text,
    "image": image,
}


def feature_type(word: str, path: str) -> FeatureType:
    """The module of a feature type. Raises `Mistakes` for a type that this version lacks."""
    if word not in FEATURES:
        raise not_built(f"{path}.type", word, ", ".join(FEATURES))
    return FEATURES[word]
