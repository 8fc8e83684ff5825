"""The encoders of a model that are not trained, without the rest of the model, for embeddings that are cached."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import torch
from torch import nn

from trainwright_api.config import ModelConfig
from trainwright_api.config.features import InputFeature
from trainwright_trainer.encoders.base import flattened
from trainwright_trainer.encoders.inputs import Inputs, shared_statistics
from trainwright_trainer.layers.names import module_key
from trainwright_trainer.layers.steps import Steps
from trainwright_trainer.loader.batch import Ragged
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.models.drawn_weights import drawn_weights
from trainwright_trainer.models.initial_weights import fitting
from trainwright_trainer.models.model import DTYPES
from trainwright_trainer.models.trainable import replace_parameter


class GivenWeights(NamedTuple):
    """The weights of another model, and the prefixes of those that do not fit."""

    weights: Mapping[str, torch.Tensor]
    unfit: tuple[str, ...]


NONE = GivenWeights({}, ())


class FrozenEncoders:
    """The encoders of all inputs. The weights of one are read when it is used first, and stay on the CPU.

    `given`: weights that have priority, by their names in the model, if they fit.
    """

    def __init__(
        self, config: ModelConfig, statistics: Mapping[str, Mapping[str, Any]], seed: int, given: GivenWeights = NONE
    ) -> None:
        self.features: list[InputFeature] = config.input_features
        self.dtype, self.layout = DTYPES[config.trainer.precision], layout_of(config, statistics)
        self._seed, self._given, self._statistics = seed, given, statistics
        self._digests: dict[str, str] = {}
        with torch.device("meta"):
            self._inputs = Inputs(self.features, statistics, self.layout, joins=False)
        self._inputs.to(self.dtype).eval()

    def root(self, position: int) -> InputFeature:
        """The input whose encoder the one at `position` uses: mostly itself."""
        name = self._inputs.roots[self.features[position].name]
        return next(feature for feature in self.features if feature.name == name)

    def statistics(self, position: int) -> Mapping[str, Any]:
        """Those of the encoder that the input at `position` uses."""
        return shared_statistics(self.root(position), self._inputs.roots, self._statistics)

    def steps(self, position: int) -> int | None:
        """The most steps of a row, or None if the encoder gives one vector."""
        return self._inputs.lengths[position]

    def width(self, position: int) -> int:
        """The numbers of a row: those of a vector, or of its steps as `flattened` has them."""
        width, steps = self._inputs.widths[position], self.steps(position)
        return width if steps is None else width * steps + 1

    def trained(self, position: int) -> Iterator[str]:
        """The names of the weights of an encoder that training changes."""
        encoder = self._encoder(self.root(position).name)
        return (name for name, one in encoder.named_parameters() if one.requires_grad)

    def digest(self, position: int) -> str:
        """The SHA-256 of all weights and buffers of an encoder, with their names. Raises the errors of reading them."""
        name = self.root(position).name
        if name not in self._digests:
            self._fill(name)
            self._digests[name] = _digest(self._encoder(name))
        return self._digests[name]

    @torch.no_grad()
    def _fill(self, name: str) -> None:
        encoder, place = self._encoder(name), f"encoders.{module_key(name)}."
        own = {f"{place}{parameter}": tensor for parameter, tensor in encoder.state_dict().items()}
        given = {key: self._given.weights[key] for key in fitting(own, *self._given).taken}
        for parameter, values in drawn_weights(encoder, place.removesuffix("."), self._seed, given):
            replace_parameter(encoder, parameter.removeprefix(place), values)
        for key, tensor in own.items():
            if not tensor.is_meta and key in given:  # a buffer
                tensor.copy_(given[key])

    def move(self, position: int, device: torch.device | str) -> None:
        self._encoder(self.root(position).name).to(device)

    def vectors(self, position: int, columns: torch.Tensor | Ragged) -> torch.Tensor:
        """[rows, width]: the vectors of one input, from its columns of some rows."""
        found, steps = self._inputs.encoded(position, columns), self.steps(position)
        if isinstance(found, Steps):
            assert steps is not None, "an encoder with steps has a limit"
            return flattened(found, steps)
        return found

    def weights(self) -> dict[str, torch.Tensor]:
        """The weights of the encoders that were used, by their names in the model."""
        read = [(f"encoders.{module_key(name)}", self._encoder(name)) for name in self._digests]
        return {f"{place}.{name}": one for place, encoder in read for name, one in encoder.state_dict().items()}

    def _encoder(self, name: str) -> nn.Module:
        return self._inputs[module_key(name)]


def _digest(encoder: nn.Module) -> str:
    found = hashlib.sha256()
    for name, tensor in encoder.state_dict().items():
        found.update(f"{name} {tensor.dtype} {tuple(tensor.shape)};".encode())
        found.update(tensor.contiguous().flatten().view(torch.uint8).numpy())
    return found.hexdigest()
