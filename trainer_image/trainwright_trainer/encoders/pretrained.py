"""Text encoders of the transformers library: one class, and one line in a table for each family."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.nn.functional as F

from trainwright_api.config.encoders.text import AutoTransformerEncoder, PretrainedEncoder
from trainwright_api.problems import Mistakes
from trainwright_trainer.encoders.base import Encoder, EncoderInput
from trainwright_trainer.encoders.sequence import padded
from trainwright_trainer.features.pretrained import transformers
from trainwright_trainer.layers.initializers import Initialized
from trainwright_trainer.layers.library_model import emptied
from trainwright_trainer.layers.pretrained import StoredWeights, initializers_of
from trainwright_trainer.layers.reduce import Reduction
from trainwright_trainer.layers.steps import Steps, at_the_end, mask_of
from trainwright_trainer.loader.batch import Padded, Ragged

FAMILIES: Mapping[str, str] = {
    "albert": "albert",
    "bert": "bert",
    "distilbert": "distilbert",
    "electra": "electra",
    "gpt2": "gpt2",
    "roberta": "roberta",
    "xlmroberta": "xlm-roberta",
}
"""Ludwig's word → the `model_type` of the library."""
_FROM_PADDING = ("roberta", "xlm-roberta")
"""Families that count positions from the index of the padding token."""


class Pretrained(Encoder, Initialized):
    """A ragged column of token indices → [rows, output_size]. Frozen without `trainable`: then always in eval mode."""

    def __init__(self, config: PretrainedEncoder | AutoTransformerEncoder, feature: EncoderInput) -> None:
        super().__init__()
        self._is_trained, self._is_pooled = config.trainable, config.reduce_output == "cls_pooled"
        found = _library_config(config, feature)
        self.model = _empty(found, pools=self._is_pooled)
        if self._is_pooled and getattr(self.model, "pooler", None) is None:
            raise Mistakes.one(
                f"{feature.path}.reduce_output", f"cls_pooled: a {found.model_type} has no pooled output"
            )
        self._padding = found.pad_token_id or 0
        self._least = feature.statistics["length"] if config.reduce_output == "concat" else 1
        self._at_the_end = config.reduce_output == "concat" and feature.statistics["padding"] == "left"
        word = "mean" if self._is_pooled else str(config.reduce_output)
        self.reduction = Reduction(word, feature.statistics["length"], found.hidden_size)
        self.output_size = found.hidden_size if self._is_pooled else self.reduction.output_size
        stored = None
        if getattr(config, "use_pretrained", True):
            name: str = getattr(config, "pretrained_model_name_or_path")  # noqa: B009
            stored = StoredWeights(name, f"{feature.path}.pretrained_model_name_or_path")
        self.initialize(**initializers_of(self.model, "model", found, stored))
        self.model.requires_grad_(config.trainable)

    def train(self, mode: bool = True) -> Pretrained:
        super().train(mode)
        self.model.train(mode and self._is_trained)
        return self

    def forward(self, columns: Ragged | Padded) -> torch.Tensor:
        index, lengths = padded(columns, self._least)
        rows = index.shape[0]
        if not rows:  # the library's models need a row; a rank may have none
            index, lengths = F.pad(index, (0, 0, 0, 1)), F.pad(lengths, (0, 1), value=1)
        mask = mask_of(lengths.clamp(min=1), index.shape[1])
        with torch.set_grad_enabled(self._is_trained and torch.is_grad_enabled()):
            found = self.model(input_ids=index.masked_fill(~mask, self._padding), attention_mask=mask.long())
        output: torch.Tensor = found.pooler_output if self._is_pooled else self._reduced(found.last_hidden_state, mask)
        return output[:rows]

    def _reduced(self, values: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
        moved = at_the_end(Steps(values, mask.sum(1))) if self._at_the_end else (values, mask)
        output: torch.Tensor = self.reduction(*moved)
        return output


def _library_config(config: PretrainedEncoder | AutoTransformerEncoder, feature: EncoderInput) -> Any:
    """The library's configuration: that of the pretrained model, or the fields of the section."""
    library = transformers(f"{feature.path}.type")
    own = {} if isinstance(config, AutoTransformerEncoder) else _fields(config)
    if getattr(config, "use_pretrained", True):
        _check_plain(config, own, feature.path)
        if "pretrained" not in feature.statistics:
            raise Mistakes.one(f"{feature.path}.use_pretrained", "true: the preprocessing needs tokenizer hf_tokenizer")
        given = dict(feature.statistics["pretrained"])
        found = library.AutoConfig.for_model(given.pop("model_type"), **given)
    else:
        found = library.AutoConfig.for_model(FAMILIES[config.type], **own)
    _check_fits(found, feature)
    return found


def _fields(config: PretrainedEncoder) -> dict[str, Any]:
    """The fields of the architecture."""
    names = [name for name in type(config).model_fields if name not in PretrainedEncoder.model_fields]
    values = {name: getattr(config, name) for name in (*names, "vocab_size") if name not in ("type",)}
    values.pop("pretrained_model_name_or_path", None)
    return {name: value for name, value in values.items() if value is not None}


def _check_plain(config: Any, own: Mapping[str, Any], path: str) -> None:
    for name, value in own.items():
        if value != type(config).model_fields[name].default:
            raise Mistakes.one(f"{path}.{name}", f"{value}: the pretrained model has its own; use_pretrained: false")


def _check_fits(found: Any, feature: EncoderInput) -> None:
    tokens, length = len(feature.statistics["vocabulary"]), feature.statistics["length"]
    if tokens > found.vocab_size:
        raise Mistakes.one(f"{feature.path}.vocab_size", f"{found.vocab_size}: the tokenizer has {tokens:,} tokens")
    positions = getattr(found, "max_position_embeddings", None)
    if positions is not None and found.model_type in _FROM_PADDING:
        positions -= found.pad_token_id + 1
    if positions is not None and length > positions:
        line = f"the model reads {positions} tokens at most, not {length}"
        raise Mistakes.one(f"{feature.path.removesuffix('.encoder')}.preprocessing.max_sequence_length", line)


def _empty(found: Any, *, pools: bool) -> Any:
    """The model with its buffers, and with parameters on the meta device."""
    library = transformers("config")
    with torch.device("cpu"), torch.random.fork_rng(devices=[]):
        model: Any = library.AutoModel.from_config(found, trust_remote_code=False)
    if not pools and getattr(model, "pooler", None) is not None:
        model.pooler = None  # an unused parameter has no gradient, and DDP waits for every gradient
    return emptied(model)


PRETRAINED_TYPES: Mapping[str, Any] = dict.fromkeys((*FAMILIES, "auto_transformer"), Pretrained)
