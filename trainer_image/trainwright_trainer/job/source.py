"""Another run to start from (`resumeFrom`): its model, which gives the initial weights, or one of its checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch

from trainwright_api.config import ModelConfig
from trainwright_api.problems import Mistakes
from trainwright_trainer.features.adopted import adopted
from trainwright_trainer.features.column import Feature, Statistics
from trainwright_trainer.layers.names import module_key, tensor_name
from trainwright_trainer.rundir import model_folder
from trainwright_trainer.rundir.layout import CheckpointName
from trainwright_trainer.rundir.start_point import SourceCheckpoint, run_and_checkpoint
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.storage.s3client.credentials import S3Credentials

PATH = "resumeFrom"


@dataclass(frozen=True)
class CheckpointSource:
    """A checkpoint of another run, with which training goes on. `name`: None for the newest one."""

    run: str
    name: CheckpointName | None

    def opened(self, access: S3Credentials | None) -> SourceCheckpoint:
        return SourceCheckpoint(storage_at(self.run, access, path=PATH), self.name)

    @property
    def essence(self) -> str:
        """The values that a resumed run must have in common with the run that was begun."""
        return f"{self.run}, checkpoint {self.name or 'newest'}"

    def adopt(self, feature: Feature, computed: Statistics) -> Statistics:  # noqa: ARG002
        """The statistics of this job's own training rows."""
        return computed


@dataclass(frozen=True)
class ModelSource:
    """A trained model, whose weights training begins with.

    `shared`: the features that both jobs read in the same way. They are encoded by the statistics of the model, because
    the weights fit its scales and its vocabularies.
    """

    location: str
    digest: str
    statistics: Mapping[str, Statistics]
    shared: frozenset[str]

    @property
    def essence(self) -> str:
        """The values that a resumed run must have in common with the run that was begun."""
        return f"{self.location}, model {self.digest[:12]}"

    def adopt(self, feature: Feature, computed: Statistics) -> Statistics:
        """The model's encoding with the distribution of this job's rows, or `computed` if the former does not fit."""
        if feature.name not in self.shared:
            return computed
        own = self.statistics[feature.name]
        is_covered = computed.get("size") == own.get("size")
        if feature.is_target:  # an input reads a value that is not in the vocabulary as unknown
            is_covered = is_covered and _values(computed) <= _values(own)
        return adopted(own, computed) if is_covered else computed

    def weights(self, access: S3Credentials | None) -> Mapping[str, torch.Tensor]:
        """The model's tensors, by name."""
        found = model_folder.load(self.location, access, PATH).weights
        return {tensor_name(name): tensor for name, tensor in found.items()}

    def unfit(self, statistics: Mapping[str, Statistics]) -> tuple[str, ...]:
        """The prefixes of the tensors that do not fit the `statistics` of this job's data."""
        others = [module_key(name) for name, own in statistics.items() if not self._fits(name, own)]
        return tuple(f"{part}.{name}." for part in ("encoders", "decoders") for name in others)

    def _fits(self, name: str, statistics: Statistics) -> bool:
        given = self.statistics.get(name)
        if given is None:
            return False
        return statistics == (adopted(given, statistics) if name in self.shared else given)


Source = ModelSource | CheckpointSource


def source_of(location: str, config: ModelConfig, access: S3Credentials | None) -> Source:
    """The source at a location. Reads all but the weights. Raises `Mistakes`."""
    found = run_and_checkpoint(location)
    if found is not None:
        return CheckpointSource(*found)
    facts = model_folder.load_facts(location, access, PATH)
    before, now = _features(facts.config), _features(config.model_dump(mode="json"))
    shared = frozenset(name for name, feature in now.items() if before.get(name) == feature)
    if not shared:
        names = ", ".join(before)
        raise Mistakes.one(PATH, f"the model at {facts.location} has no feature of this job; its features are {names}")
    return ModelSource(facts.location, facts.digest, facts.statistics, shared)


def _features(config: Mapping[str, Any]) -> dict[str, tuple[Any, ...]]:
    """The values that determine the reading of each feature, by name."""
    return {
        feature["name"]: (section, feature["type"], feature["column"] or feature["name"], feature["preprocessing"])
        for section in ("input_features", "output_features")
        for feature in config[section]
    }


def _values(statistics: Statistics) -> set[str]:
    """The values that an output with a vocabulary, or a binary one, can have."""
    two = (statistics[word] for word in ("false", "true") if word in statistics)
    return {*statistics.get("vocabulary", ()), *two}
