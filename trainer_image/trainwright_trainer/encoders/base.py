"""The base class of encoders: columns of a batch → one vector a row, or a sequence of vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from trainwright_api.problems import Mistakes
from trainwright_trainer.layers.steps import Steps
from trainwright_trainer.layers.stored_vectors import StoredVectors


@dataclass(frozen=True)
class EncoderInput:
    """The feature of an encoder: its statistics, the number of its columns in the batch, and the path of its encoder
    in the config (`config.input_features[2].encoder`).

    `embedded`: the width of the steps, where the input is a sequence of vectors already.
    """

    statistics: Mapping[str, Any]
    width: int
    path: str
    embedded: int | None = None


class Encoder(nn.Module, ABC):
    """`columns` [rows, width] of the batch's tensor, a `Ragged` of rows, or images → [rows, output_size], of the
    model's dtype. Images are uint8 [rows, channels, height, width].

    A ragged column and images have no width: their `EncoderInput.width` is 1. With `output_length` the result is
    `Steps`: at most so many vectors of `output_size` a row.
    """

    output_size: int
    output_length: int | None = None
    recomputes = False
    """Like that of a `ModelBlock`, for the layers of a library."""

    @abstractmethod
    def forward(self, columns: Any) -> torch.Tensor | Steps: ...

    def library_layers(self) -> Iterator[nn.Module]:
        """Modules of a library that a sharded engine gathers one at a time."""
        return iter(())

    def saved(self, tensors: Mapping[str, torch.Tensor]) -> Mapping[str, torch.Tensor]:
        """The tensors of the saved model, from `tensors`, those of this encoder."""
        return tensors


class CachedSteps(Encoder):
    """Cached embeddings of an encoder with steps: [rows, length × width + 1] → `Steps`. See `flattened`."""

    def __init__(self, width: int, length: int) -> None:
        super().__init__()
        self.output_size, self.output_length = width, length
        self._shape = (-1, length, width)

    def forward(self, columns: torch.Tensor) -> Steps:
        return Steps(columns[:, :-1].reshape(self._shape), columns[:, -1].to(torch.int64))


def flattened(steps: Steps, length: int) -> torch.Tensor:
    """[rows, length × width + 1]: the values, with zeros behind the steps that count, and the number of these steps."""
    return torch.cat([steps.of_length(length).values.flatten(1), steps.lengths.unsqueeze(1)], 1)


def stored_vectors(config: Any, feature: EncoderInput) -> StoredVectors | None:
    """The vectors of the file that a section names, if it names one. Raises `Mistakes` if it has no table for them."""
    if config.pretrained_embeddings is None:
        return None
    path = f"{feature.path}.pretrained_embeddings"
    if getattr(config, "representation", "dense") == "sparse":
        raise Mistakes.one(path, "representation: sparse has no table of vectors")
    name = "embedding_initializer" if hasattr(config, "embedding_initializer") else "weights_initializer"
    if getattr(config, name) != type(config).model_fields[name].default:
        raise Mistakes.one(path, f"and {name}: the vectors of the file are the initial values")
    words = feature.statistics["vocabulary"]
    return StoredVectors(config.pretrained_embeddings, words, config.embedding_size, path)


class PassthroughEncoder(Encoder):
    """The columns unchanged; integers are converted to the model's dtype."""

    like: torch.Tensor

    def __init__(self, feature: EncoderInput) -> None:
        super().__init__()
        self.output_size = feature.width
        # This encoder has no weights, so a buffer carries the model's dtype.
        self.register_buffer("like", torch.empty(0, device="cpu"), persistent=False)

    def forward(self, columns: torch.Tensor) -> torch.Tensor:
        return columns.to(self.like.dtype)
