"""One summary for each feature in the report, from the statistics that the encoding used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from trainwright_api.config import ModelConfig
from trainwright_trainer.features.registry import FEATURES
from trainwright_trainer.report.data import FeatureSummary


def feature_summaries(config: ModelConfig, statistics: Mapping[str, Mapping[str, Any]]) -> Iterator[FeatureSummary]:
    """The summaries in the order of the config, inputs first."""
    for role, features in (("input", config.input_features), ("output", config.output_features)):
        for feature in features:
            if feature.name in statistics:
                kind, known = FEATURES[feature.type], statistics[feature.name]
                yield FeatureSummary(feature.name, feature.type, role, kind.facts(known), kind.distribution(known))
