"""The model: inputs → encoders → combiner → decoders → logits, and its losses.

A new model is on the meta device: its parameters have no memory until an engine gives them their initial values or
loads others. The initial values of a parameter depend on its initializer, its shape, its name and the seed alone, not
on other parameters, the device or the backend.

The names of parameters follow the config (`encoders.carrier.table.weight`, `combiner.stack.layers.0.linear.weight`,
`decoders.late.head.bias`) and are part of the checkpoint format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

import torch
from torch import nn

from trainwright_api.config import ModelConfig
from trainwright_api.config.features import OutputFeature
from trainwright_trainer.combiners import COMBINERS, Combined, CombinerInput, check_forms
from trainwright_trainer.decoders.outputs import Logits, Outputs
from trainwright_trainer.encoders.base import Encoder
from trainwright_trainer.encoders.inputs import Inputs
from trainwright_trainer.layers.model_block import ModelBlock
from trainwright_trainer.layers.names import module_key
from trainwright_trainer.layers.steps import Steps
from trainwright_trainer.loader.batch import Batch, Layout
from trainwright_trainer.losses import LOSSES, Loss
from trainwright_trainer.losses.class_weights import END
from trainwright_trainer.models.drawn_weights import drawn_weights
from trainwright_trainer.models.initial_weights import InitialWeights, Taken, fitting
from trainwright_trainer.models.penalty import Kind, penalty
from trainwright_trainer.models.targets import SEQUENCES, Targets, targets_of, tokens_in

PENALTY = ""
"""The name of the combiner's penalty beside the outputs in a forward pass. No output has an empty name."""

DTYPES = {"float32": torch.float32, "tf32": torch.float32, "float64": torch.float64}
"""`trainer.precision` → the dtype of the weights and of floats in batches."""


class Model(nn.Module):
    """A model for one resolved config. Batches have the given layout, and floats of the model's dtype.

    `frozen`: the weights, by name, of the encoders whose embeddings are in the batches. The saved model has them too.
    """

    def __init__(
        self, config: ModelConfig, statistics: Mapping[str, Mapping[str, Any]], layout: Layout, seed: int
    ) -> None:
        super().__init__()
        self._seed, self._initial = seed, InitialWeights()
        self.frozen: Mapping[str, torch.Tensor] = {}
        with torch.device("meta"):
            kind = COMBINERS[type(config.combiner)]
            self.encoders = Inputs(config.input_features, statistics, layout, joins=kind.joins, looks_up=kind.looks_up)
            encoded = zip(config.input_features, self.encoders.widths, self.encoders.lengths, strict=True)
            inputs = [CombinerInput(feature.name, feature.type, width, length) for feature, width, length in encoded]
            check_forms(kind, config.combiner.type, inputs)
            self.combiner = kind(config.combiner, inputs, "config.combiner")
            size, length = self.combiner.output_size, self.combiner.output_length
            self.decoders = Outputs(config.output_features, statistics, size, length)
        self._losses: list[tuple[str, Loss]] = []
        self._targets: dict[str, Targets] = {}
        self._sequences: dict[str, tuple[Callable[[Batch], int], int]] = {}
        self.criteria = nn.ModuleDict()
        for position, feature in enumerate(config.output_features):
            path = f"config.output_features[{position}].loss"
            loss = LOSSES[feature.loss.type](feature.loss, _labels(feature, statistics[feature.name]), path)
            self.criteria[module_key(feature.name)] = loss
            self._losses.append((feature.name, loss))
            columns = layout.columns[feature.name]
            self._targets[feature.name] = targets_of(feature, statistics[feature.name], columns)
            if feature.type in SEQUENCES:
                self._sequences[feature.name] = partial(tokens_in, feature, columns), columns.start
        self._unit = self._unit_of_the_total()
        for block in self.modules():
            if isinstance(block, ModelBlock | Encoder):
                block.recomputes = config.trainer.enable_gradient_checkpointing
        self.to(DTYPES[config.trainer.precision])

    def forward(self, batch: Batch) -> dict[str, torch.Tensor]:
        """Logits by output: [rows] for numbers and binaries, [rows, length, tokens] for sequences, whose decoders read
        the targets in `batch`, and [rows, size], [rows, classes] or [rows, tokens] for the others.

        In training also `PENALTY`, [rows], if the combiner has one.
        """
        combined: Combined = self.combiner(self.encoders(batch))
        targets = {name: batch.ragged[at] for name, (_, at) in self._sequences.items()}
        found: Logits = self.decoders(_form(combined), targets)
        logits = {name: one.values if isinstance(one, Steps) else one for name, one in found.items()}
        return logits if combined.penalty is None else {**logits, PENALTY: combined.penalty}

    def predict(self, batch: Batch) -> Logits:
        """Logits by output, without a look at the targets. Those of sequences are `Steps`: of the predicted tokens."""
        logits: Logits = self.decoders(_form(self.combiner(self.encoders(batch))))
        return logits

    def targets(self, batch: Batch, output: str) -> torch.Tensor:
        """The targets of one output, as its loss takes them (`targets_of`)."""
        return self._targets[output](batch)

    def tokens(self, batch: Batch) -> dict[str, int]:
        """The number of tokens in the targets of each output whose loss is a mean over tokens."""
        return {name: count(batch) for name, (count, _) in self._sequences.items()}

    def losses(self, logits: Mapping[str, torch.Tensor], batch: Batch) -> dict[str, torch.Tensor]:
        """Unweighted losses by output, and `PENALTY` if the logits have it: [rows] each. Their dtype is that of
        `batch.floats`, also for half-precision logits."""
        dtype = batch.floats.dtype
        found = {name: loss.rows(logits[name].to(dtype), self.targets(batch, name)) for name, loss in self._losses}
        return {**found, PENALTY: logits[PENALTY].to(dtype)} if PENALTY in logits else found

    def total(self, means: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """The scalar that training minimises: the weighted sum of the outputs' finished mean losses, divided by a unit.

        The unit is a constant of the losses. With it the norm for gradient clipping and the factors of penalties have
        the same meaning for a target in metres and in millimetres. The mean of `PENALTY` is added as it is.
        """
        finished = [(loss.finish(means[name]), loss.weight) for name, loss in self._losses]
        terms = [loss if weight == 1 else loss * weight for loss, weight in finished]
        total = terms[0] if len(terms) == 1 else torch.stack(terms).sum()
        total = total if self._unit == 1 else total / self._unit
        return total + means[PENALTY] if PENALTY in means else total

    def _unit_of_the_total(self) -> float:
        """The weighted mean of the losses' units; exactly 1 if no output is a number."""
        weights = sum(loss.weight for _, loss in self._losses)
        units = sum(loss.weight * loss.unit(self.decoders.spread_of(name)) for name, loss in self._losses)
        return float(units / weights) if units > 0 else 1.0

    @torch.no_grad()
    def begin_with(self, weights: Mapping[str, torch.Tensor], unfit: tuple[str, ...]) -> Taken:
        """Take those of `weights` (on the CPU) that fit as initial values. Called before an engine is made.

        `unfit`: prefixes of names that do not fit, whatever their shape. Temperatures stay 1: calibration fits them
        to the logits after training.
        """
        temperatures = {f"decoders.{module_key(name)}.temperature" for name in self.decoders.calibrated}
        own = {name: tensor for name, tensor in self.state_dict().items() if name not in temperatures}
        found = fitting(own, weights, unfit)
        for name in found.taken:
            if own[name].is_meta:
                self._initial[name] = weights[name]
            else:  # buffers, and the weights of a pretrained encoder
                own[name].copy_(weights[name])
        return found

    def initial_weights(self) -> Iterator[tuple[str, torch.Tensor]]:
        """The initial values of the parameters that have no memory yet, one at a time, on the CPU.

        They are drawn in float32, so both precisions begin with the same values.
        """
        return drawn_weights(self, "", self._seed, self._initial)

    def whole_weights(self) -> dict[str, torch.Tensor]:
        """The tensors of the saved model."""
        found = {**self.frozen, **self.state_dict()}
        for word, encoder in self.encoders.items():
            if isinstance(encoder, Encoder):
                place = f"encoders.{word}."
                own = {name.removeprefix(place): found.pop(name) for name in list(found) if name.startswith(place)}
                found |= {f"{place}{name}": tensor for name, tensor in encoder.saved(own).items()}
        return found

    def spared_multiplications(self, rows: int) -> int:
        """Those that a pass of `rows` rows saves, because the first layer multiplies the tables of categories."""
        return int(self.combiner.units_of_parts * self.encoders.spared(rows))

    def blocks(self) -> Iterator[nn.Module]:
        """The parts that are gathered one at a time: our blocks, and those of models of a library."""
        for module in self.modules():
            if isinstance(module, ModelBlock):
                yield module
            elif isinstance(module, Encoder):
                yield from module.library_layers()

    def regularization(self, kind: Kind, factor: float) -> torch.Tensor:
        """The penalty on all trained weights: a scalar."""
        return penalty({name: one for name, one in self.named_parameters() if one.requires_grad}, kind, factor)


def _form(combined: Combined) -> torch.Tensor | Steps:
    return combined.values if combined.lengths is None else Steps(combined.values, combined.lengths)


def _labels(feature: OutputFeature, statistics: Mapping[str, Any]) -> list[str]:
    """The names of the columns of an output's logits; none for a number."""
    labels = statistics.get("vocabulary") or range(statistics.get("size", 0))
    return [*map(str, labels), *([END] if feature.decoder.type == "generator" else [])]
