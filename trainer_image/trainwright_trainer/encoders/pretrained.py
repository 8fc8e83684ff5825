"""Text encoders of the transformers library: one class for all of its families."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn

from trainwright_api.config.adapters import Lora
from trainwright_api.problems import Mistakes
from trainwright_trainer.encoders.base import Encoder, EncoderInput
from trainwright_trainer.encoders.text_models import (
    FAMILIES,
    Section,
    empty_model,
    freeze_unused,
    layers_of,
    library_config,
)
from trainwright_trainer.layers.adapter import add_lora, merged
from trainwright_trainer.layers.initializers import Initialized
from trainwright_trainer.layers.pretrained import StoredWeights, initializers_of
from trainwright_trainer.layers.reduce import Reduction
from trainwright_trainer.layers.steps import Steps, at_the_end, mask_of
from trainwright_trainer.loader.batch import Padded, Ragged, padded


class Pretrained(Encoder, Initialized):
    """A ragged column of token indices → [rows, output_size], or the `Steps` of the tokens with `reduce_output: null`.

    Frozen without `trainable`: then always in eval mode.

    With an adapter the model is frozen and the adapter is trained, with or without `trainable`.
    """

    def __init__(self, config: Section, feature: EncoderInput) -> None:
        super().__init__()
        assert config.adapter is None or isinstance(config.adapter, Lora), "no other adapter is built"
        self._adapter = config.adapter
        self._is_trained = config.trainable or self._adapter is not None
        self._is_pooled = config.reduce_output == "cls_pooled"
        found = library_config(config, feature)
        has_weights = getattr(config, "use_pretrained", True)
        self.model: Any = empty_model(found, feature.path, pools=self._is_pooled, tries=not has_weights)
        if self._is_pooled and getattr(self.model, "pooler", None) is None:
            raise Mistakes.one(
                f"{feature.path}.reduce_output", f"cls_pooled: a {found.model_type} has no pooled output"
            )
        self._padding = found.pad_token_id or 0
        self._least = feature.statistics["length"] if config.reduce_output == "concat" else 1
        self._at_the_end = config.reduce_output == "concat" and feature.statistics["padding"] == "left"
        self.reduction = None
        self.output_size = found.hidden_size
        if config.reduce_output is None:
            self.output_length = feature.statistics["length"]
        elif not self._is_pooled:
            self.reduction = Reduction(config.reduce_output, feature.statistics["length"], found.hidden_size)
            self.output_size = self.reduction.output_size
        stored = _stored(config, feature.path) if has_weights else None
        self.model.requires_grad_(config.trainable)
        if self._adapter is not None:
            add_lora(self._adapter, self.model, f"{feature.path}.adapter")
        freeze_unused(self.model, found.model_type)
        self.initialize(**initializers_of(self.model, "model", found, stored))

    def train(self, mode: bool = True) -> Pretrained:
        super().train(mode)
        self.model.train(mode and self._is_trained)
        return self

    @property
    def recomputes(self) -> bool:
        return bool(self.model.is_gradient_checkpointing)

    @recomputes.setter
    def recomputes(self, value: bool) -> None:
        if value and self._is_trained and self.model.supports_gradient_checkpointing:
            self.model.gradient_checkpointing_enable({"use_reentrant": False})

    def forward(self, columns: Ragged | Padded) -> torch.Tensor | Steps:
        index, own = padded(columns, self._least)
        lengths, rows = own, index.shape[0]
        if not rows:  # the library's models need a row; a rank may have none
            index, lengths = F.pad(index, (0, 0, 0, 1)), F.pad(lengths, (0, 1), value=1)
        mask = mask_of(lengths.clamp(min=1), index.shape[1])
        with torch.set_grad_enabled(self._is_trained and torch.is_grad_enabled()):
            found = self.model(input_ids=index.masked_fill(~mask, self._padding), attention_mask=mask.long())
        if self.reduction is not None:
            return self._reduced(self.reduction, found.last_hidden_state, mask)[:rows]
        if self.output_length is not None:
            values = found.last_hidden_state[:rows]
            return Steps(values, own).with_values(values)
        pooled: torch.Tensor = found.pooler_output
        return pooled[:rows]

    def _reduced(self, reduction: Reduction, values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        moved = at_the_end(Steps(values, mask.sum(1))) if self._at_the_end else (values, mask)
        output: torch.Tensor = reduction(*moved)
        return output

    def library_layers(self) -> Iterator[nn.Module]:
        return layers_of(self.model)

    def saved(self, tensors: Mapping[str, torch.Tensor]) -> Mapping[str, torch.Tensor]:
        merges = self._adapter is not None and self._adapter.postprocessor.merge_adapter_into_base_model
        return dict(merged(self, tensors)) if merges else tensors


def _stored(config: Section, path: str) -> StoredWeights:
    name: str = getattr(config, "pretrained_model_name_or_path")  # noqa: B009
    return StoredWeights(name, f"{path}.pretrained_model_name_or_path")


PRETRAINED_TYPES: Mapping[str, Any] = dict.fromkeys((*FAMILIES, "auto_transformer"), Pretrained)
