"""Models of the transformers library without weights: their configuration, from a section or a pretrained model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import torch
from torch import nn

from trainwright_api.config.encoders.text import AutoTransformerEncoder, PretrainedEncoder
from trainwright_api.problems import Mistakes
from trainwright_trainer.encoders.base import EncoderInput
from trainwright_trainer.features.pretrained import transformers
from trainwright_trainer.layers.library_model import emptied
from trainwright_trainer.layers.pretrained import encoder_part

FAMILIES: Mapping[str, str] = {
    "albert": "albert",
    "bert": "bert",
    "camembert": "camembert",
    "ctrl": "ctrl",
    "deberta": "deberta-v2",
    "distilbert": "distilbert",
    "electra": "electra",
    "gpt": "openai-gpt",
    "gpt2": "gpt2",
    "longformer": "longformer",
    "mt5": "mt5",
    "roberta": "roberta",
    "t5": "t5",
    "xlm": "xlm",
    "xlmroberta": "xlm-roberta",
    "xlnet": "xlnet",
}
"""Ludwig's word → the `model_type` of the library."""
_FROM_PADDING = ("camembert", "longformer", "roberta", "xlm-roberta")
"""Families that count positions from the index of the padding token."""
_ALWAYS: Mapping[str, Any] = {"use_cache": False, "use_mems_eval": False}
"""Fields of configurations with the value that they have here: a pass keeps no state for the next one."""
_UNUSED: Mapping[str, tuple[str, ...]] = {
    "longformer": ("query_global", "key_global", "value_global"),
    "xlm": ("lang_embeddings",),
    "xlnet": ("mask_emb", "seg_embed", "r_s_bias"),
}
"""Parts of the names of parameters that a pass over a single text does not use. They are never trained, because DDP
waits for the gradient of each trained parameter."""
Section = PretrainedEncoder | AutoTransformerEncoder


def library_config(config: Section, feature: EncoderInput) -> Any:
    """The library's configuration: that of the pretrained model, or the fields of the section. Raises `Mistakes`."""
    library = transformers(f"{feature.path}.type")
    own = {} if isinstance(config, AutoTransformerEncoder) else _fields(config)
    if getattr(config, "use_pretrained", True):
        _check_plain(config, own, feature.path)
        if "pretrained" not in feature.statistics:
            raise Mistakes.one(f"{feature.path}.use_pretrained", "true: the preprocessing needs tokenizer hf_tokenizer")
        given = dict(feature.statistics["pretrained"])
        found = library.AutoConfig.for_model(given.pop("model_type"), **given)
    else:
        with refusing_sizes(feature.path):
            found = library.AutoConfig.for_model(FAMILIES[config.type], **own)
    for name, value in _ALWAYS.items():
        if hasattr(found, name):
            setattr(found, name, value)
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
    if positions is not None and 0 < positions < length:  # XLNet has -1: no limit
        line = f"the model reads {positions} tokens at most, not {length}"
        raise Mistakes.one(f"{feature.path.removesuffix('.encoder')}.preprocessing.max_sequence_length", line)


@contextmanager
def refusing_sizes(path: str) -> Iterator[None]:
    """Raise `Mistakes` for fields that the library cannot build a model of, or compute a token with."""
    strict: type[Exception] = import_module("huggingface_hub.errors").StrictDataclassError
    try:
        yield
    except (ValueError, AssertionError, ArithmeticError, RuntimeError, strict) as error:
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        raise Mistakes.one(path, f"the library cannot build this model: {': '.join(lines)}") from error


def empty_model(found: Any, path: str, *, pools: bool, tries: bool) -> nn.Module:
    """The model with its buffers, and with parameters on the meta device. Of an encoder and a decoder, the encoder.

    `tries`: compute a token, because the section has the sizes of the model. Raises `Mistakes`.
    """
    library = transformers("config")
    with refusing_sizes(path), torch.device("cpu"), torch.random.fork_rng(devices=[]):
        model: Any = encoder_part(library.AutoModel.from_config(found, trust_remote_code=False))
        if tries:
            with torch.inference_mode():
                model.eval()(input_ids=torch.full((1, 1), found.vocab_size - 1))
    if not pools and getattr(model, "pooler", None) is not None:
        model.pooler = None  # an unused parameter has no gradient, and DDP waits for every gradient
    return emptied(model)


def freeze_unused(model: nn.Module, model_type: str) -> None:
    unused = _UNUSED.get(model_type, ())
    for name, parameter in model.named_parameters():
        if any(part in name for part in unused):
            parameter.requires_grad_(False)


def layers_of(model: nn.Module) -> Iterator[nn.Module]:
    """The blocks of the model: the items of its outermost lists of modules that have parameters."""
    for child in model.children():
        if isinstance(child, nn.ModuleList):
            yield from (one for one in child if any(True for _ in one.parameters()))
        else:
            yield from layers_of(child)
