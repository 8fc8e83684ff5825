"""Every option of the models of libraries has an effect: the fields of each section, from the contract."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any
from unittest.mock import patch

import pytest
import torch

from trainwright_api.checks import support
from trainwright_api.config.encoders import encoder_choice
from trainwright_api.config.inputs_media import ImageInput
from trainwright_api.problems import Mistakes
from trainwright_api.schema.field_schema import schema_of
from trainwright_trainer.encoders import text_models, torchvision
from trainwright_trainer.encoders.text_models import FAMILIES

from .option_values import other_values, other_words
from .test_pretrained_text import ROWS, encoder, ragged
from .tiny_text import BERT, SMALL

_OF_WEIGHTS = ("use_pretrained", "pretrained_model_name_or_path")
"""Fields of all families that need stored weights: the other tests of these models use them."""
_SIZES: Mapping[str, Mapping[str, Any]] = {
    "longformer": {**BERT, "attention_window": [4, 4]},
    "roberta": BERT,
    "xlmroberta": BERT,
}
"""Sizes that a section lacks."""
_GIVEN = {"trainable": True, "reduce_output": "mean"}
"""The fields that `encoder` sets."""
_MODULES = ("query", "q", "q_lin", "query_proj", "c_attn", "Wq", "layer_1")
"""The names of linear layers, of which each family has one."""
_VALUES: Mapping[str, list[Any]] = {
    "adapter": [{"type": "lora", "target_modules": [name]} for name in _MODULES],
    "attention_window": [8],
    "pos_att_type": [["p2c"]],
    "vocab_size": [40],
    "max_position_embeddings": [40, 4],
    "n_positions": [40, 4],
}
"""Values of lists and sections, and sizes that fit the rows."""


def options() -> Iterator[Any]:
    for word in FAMILIES:
        section = encoder_choice("text").section(word)
        for name in section.model_fields:
            if name not in ("type", "skip", *_OF_WEIGHTS) and support.is_built(section, name):
                yield pytest.param(word, name, id=f"{word}-{name}", marks=pytest.mark.slow)


def seen(word: str, **fields: Any) -> dict[str, Any]:
    """The parameters, their gradients and the vectors in training, with one seed of the dropout. Raises `Mistakes`."""
    given = text_models._fields
    sizes = _SIZES.get(word, {})
    with patch.object(text_models, "_fields", lambda config: {**sizes, **given(config)}):
        made = encoder(word, **fields).train()
    torch.manual_seed(0)
    vectors = made(ragged(ROWS))
    if vectors.requires_grad:
        vectors.square().sum().backward()
    found = {
        name: (one.shape, one.requires_grad, None if one.grad is None else one.grad.numpy().tobytes())
        for name, one in made.named_parameters()
    }
    return {**found, "vectors": vectors.detach().numpy().tobytes()}


@pytest.mark.parametrize(("word", "name"), [*options()])
def test_every_option_of_a_family_of_texts_acts(word: str, name: str) -> None:
    section = encoder_choice("text").section(word)
    schema = schema_of(section.model_fields[name])
    now = {**_GIVEN, **SMALL[word]}.get(name, section.model_fields[name].default)
    values = _VALUES.get(name) or [*other_values(schema, now), *other_words(schema, now)]
    assert values or len(schema.words) == 1, "no other value is known: give it one in _VALUES"
    assert not values or any(acts(word, name, value) for value in values), f"no model differs with {values}"


def acts(word: str, name: str, value: Any) -> bool:
    """The model differs from that without the option, or is refused because the rows are longer than it reads."""
    try:
        return seen(word, **{name: value}) != seen(word)
    except Mistakes as mistakes:
        return f"the model reads {value} tokens at most" in str(mistakes)


@pytest.mark.parametrize("word", torchvision.FAMILIES)
def test_every_variant_of_a_family_of_images_is_another_model_with_its_own_size_of_images(word: str) -> None:
    from torchvision.models import get_model_weights, list_models

    schema = schema_of(encoder_choice("image").section(word).model_fields["model_variant"])
    variants = [value for one in (schema, *schema.branches) for value in one.words]
    sections = [
        ImageInput.model_validate({"name": "x", "encoder": {"type": word, "model_variant": variant}}).encoder
        for variant in variants
    ]
    names = [torchvision.name_of(section) for section in sections]
    assert variants
    assert len(set(names)) == len(names)
    assert set(names) <= set(list_models())
    for name, section in zip(names, sections, strict=True):
        [size] = get_model_weights(name).DEFAULT.transforms().crop_size
        assert section.own_preprocessing()["height"] == size
