"""The metrics of all outputs of a model."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch

from trainwright_api.config import ModelConfig
from trainwright_trainer.layers.names import module_key
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.metrics.base import OutputMetrics
from trainwright_trainer.metrics.binary import BinaryMetrics
from trainwright_trainer.metrics.category import CategoryMetrics
from trainwright_trainer.metrics.number import NumberMetrics
from trainwright_trainer.metrics.sequence import SequenceMetrics
from trainwright_trainer.metrics.set import SetMetrics
from trainwright_trainer.metrics.vector import VectorMetrics
from trainwright_trainer.metrics.worst_rows import WorstRows
from trainwright_trainer.models.targets import Targets, targets_of

TYPES: Mapping[str, type[OutputMetrics]] = {
    "number": NumberMetrics,
    "binary": BinaryMetrics,
    "category": CategoryMetrics,
    "vector": VectorMetrics,
    "set": SetMetrics,
    "sequence": SequenceMetrics,
    "text": SequenceMetrics,
}


class ModelMetrics:
    """The metrics of each output, and the combined loss. With `figures` also the worst rows of each output."""

    def __init__(
        self,
        config: ModelConfig,
        statistics: Mapping[str, Mapping[str, Any]],
        *,
        figures: bool = False,
        running: bool = False,
    ) -> None:
        layout = layout_of(config, statistics)
        self.outputs: dict[str, OutputMetrics] = {}
        self._targets: dict[str, Targets] = {}
        for feature in config.output_features:
            keeps = figures or feature.type == "binary"
            known = statistics[feature.name]
            self.outputs[feature.name] = TYPES[feature.type](feature, known, keeps=keeps, running=running)
            self._targets[feature.name] = targets_of(feature, known, layout.columns[feature.name])
        self.worst = {name: WorstRows() for name in self.outputs} if figures else {}

    def update(self, logits: Mapping[str, torch.Tensor], losses: Mapping[str, torch.Tensor], batch: Batch) -> None:
        """Add the rows of `batch`, with the results of `Model.forward` and `Model.losses`."""
        for name, metrics in self.outputs.items():
            metrics.update(logits[name], self._targets[name](batch), losses[name])
        for name, worst in self.worst.items():
            worst.update(batch.rows, losses[name])

    def compute(self) -> dict[str, dict[str, float]]:
        """{output: {metric: value}} with Ludwig's names, and {"combined": {"loss": …}}. Empty without rows."""
        found = {name: metrics.compute() for name, metrics in self.outputs.items()}
        if not all(found.values()):
            return {}
        total = sum(metrics.feature.loss.weight * found[name]["loss"] for name, metrics in self.outputs.items())
        return {"combined": {"loss": total}, **found}

    def merge(self, other: ModelMetrics) -> None:
        """Add the rows of another process."""
        for name, metrics in self.outputs.items():
            metrics.merge(other.outputs[name])
        for name, worst in self.worst.items():
            worst.add(other.worst[name].tensors())

    def reset(self) -> None:
        """Forget all rows."""
        for metrics in self.outputs.values():
            metrics.reset()
        self.worst = {name: WorstRows() for name in self.worst}

    def tensors(self) -> dict[str, torch.Tensor]:
        """The state for a checkpoint. The names are dotted and begin with the output's module key."""
        return self._tensors_of(self.outputs)

    def folded(self) -> dict[str, torch.Tensor]:
        """The same with all rows folded, to be added to the metrics of other rows."""
        return self._tensors_of({name: metrics.folded() for name, metrics in self.outputs.items()})

    def load(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Replace the state by the result of an earlier `tensors()`."""
        for name, metrics in self.outputs.items():
            metrics.load(_under(name, tensors))

    def add(self, tensors: Mapping[str, torch.Tensor]) -> None:
        """Add the rows of another process, given as its `tensors()`."""
        for name, metrics in self.outputs.items():
            metrics.add(_under(name, tensors))
        for name, worst in self.worst.items():
            worst.add(_under(name, tensors))

    def _tensors_of(self, outputs: Mapping[str, OutputMetrics]) -> dict[str, torch.Tensor]:
        return {
            f"{module_key(name)}.{part}": tensor
            for name, metrics in outputs.items()
            for part, tensor in {**metrics.tensors(), **self._worst_tensors(name)}.items()
        }

    def _worst_tensors(self, name: str) -> dict[str, torch.Tensor]:
        return self.worst[name].tensors() if name in self.worst else {}


def _under(output: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    prefix = f"{module_key(output)}."
    return {key.removeprefix(prefix): tensor for key, tensor in tensors.items() if key.startswith(prefix)}


def model_metrics(
    config: ModelConfig, statistics: Mapping[str, Mapping[str, Any]], *, figures: bool = False, running: bool = False
) -> ModelMetrics:
    """The metrics of a resolved config. With `figures` they also keep the data for `metrics.figures`.

    `running`: the metrics of training rounds, which are part of each checkpoint (see `OutputMetrics`).
    """
    return ModelMetrics(config, statistics, figures=figures, running=running)
