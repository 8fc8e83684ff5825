"""Every type in the registry implements the interface `FeatureType`."""

from __future__ import annotations

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.features.column import FeatureType
from trainwright_trainer.features.registry import FEATURES, feature_type

PROMISED = [name for name in vars(FeatureType) if not name.startswith("_")]


@pytest.mark.parametrize("word", FEATURES)
@pytest.mark.parametrize("name", PROMISED)
def test_each_type_has_each_function(word, name):
    assert callable(getattr(feature_type(word, "config.input_features[0]"), name))


def test_a_type_that_is_not_built_says_so():
    with pytest.raises(Mistakes) as mistakes:
        feature_type("audio", "config.input_features[2]")
    found = "config.input_features[2].type: not built yet: audio"
    assert (
        str(mistakes.value)
        == f"{found} (this version has number, binary, category, date, vector, set, bag, sequence, text, image)"
    )
