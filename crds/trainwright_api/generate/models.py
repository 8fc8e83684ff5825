"""docs/models.md: the parts of a model that this version has, with their sizes, options, and what was tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainwright_api.checks import support
from trainwright_api.config.encoders import encoder_choice
from trainwright_api.config.model import ModelConfig
from trainwright_api.generate.schema import first_line
from trainwright_api.schema.choice import Choice
from trainwright_api.schema.field_schema import schema_of
from trainwright_api.schema.section import Section

_INTRODUCTION = """\
# Models

`make generate` writes this page from the contract and from the table of what is built. [reference.md](reference.md)
describes each option.

An encoder makes one vector of a value; a combiner makes one vector of all; a decoder makes the prediction of it.
"""
_FORMS: Mapping[str, str] = {
    "number": "one number",
    "binary": "true or false",
    "category": "one label",
    "date": "nine parts of a date",
    "vector": "numbers of a fixed length",
    "set": "labels without an order",
    "bag": "labels with counts",
    "sequence": "tokens in their order",
    "text": "tokens in their order",
    "image": "pixels of one size",
}
"""The value that the encoders of a type accept."""
_OWN = "the tests try each option, two ranks beside one process, and a saved model."
_TRIED: Mapping[str, str] = {
    "text": "of a library's model, the tests make tiny ones with random weights and load them from folders: frozen, "
    "trained, with an adapter (bert, gpt2), saved and read again. Weights of the hub were not tried. Of the others, "
    + _OWN,
    "image": "the tests train on small images and read saved models. Weights of torchvision's server and of the hub "
    "were not tried.",
}
"""The tried cases of the encoders of a type, if it is not `_OWN`."""
_NOTES: Mapping[str, str] = {
    "gpt": "Set `n_positions` without pretrained weights: the memory grows with its square.",
    "auto_transformer": "Llama and BLOOM architectures train with `fsdp` and with ZeRO 3 as in one process.",
}
_SIZES = (
    *("embedding_size", "hidden_size", "emb_dim", "n_embd", "d_model", "dim", "state_size", "num_filters"),
    *(
        "num_hidden_layers",
        "n_layer",
        "n_layers",
        "num_layers",
        "num_attention_heads",
        "n_head",
        "n_heads",
        "num_heads",
    ),
    *("num_steps", "size", "output_size", "vocab_size", "model_variant", "model_name"),
)
"""The options that decide the number of parameters, in the order of the page."""
_HEAD = "| name | what it is | default sizes | options |\n|---|---|---|---|\n"


def models() -> str:
    """Return the page as Markdown."""
    return "\n".join([_INTRODUCTION, *_encoders(), *_part("Combiners", "combiner"), *_outputs()])


def _encoders() -> Iterator[str]:
    yield "## Encoders\n"
    for kind in support.ENCODERS:
        yield f"### {kind}: {_FORMS[kind]}\n"
        yield f"Tried: {_TRIED.get(kind, _OWN)}\n"
        yield _table(encoder_choice(kind))


def _part(heading: str, field: str) -> Iterator[str]:
    choice = schema_of(ModelConfig.model_fields[field]).choice
    assert choice is not None, "the field is a choice"
    yield f"## {heading}\n"
    yield _table(choice)


def _outputs() -> Iterator[str]:
    yield "## Outputs\n"
    yield "| type | decoder | loss |\n|---|---|---|"
    outputs = schema_of(ModelConfig.model_fields["output_features"]).item
    assert outputs is not None
    assert outputs.choice is not None
    for word in support.built_words(outputs.choice):
        section = outputs.choice.section(word)
        yield f"| `{word}` | {_built(section, 'decoder')} | {_built(section, 'loss')} |"
    yield ""


def _built(section: type[Section], field: str) -> str:
    choice = schema_of(section.model_fields[field]).choice
    return "" if choice is None else ", ".join(f"`{word}`" for word in support.built_words(choice))


def _table(choice: Choice) -> str:
    rows = (_row(word, choice.section(word)) for word in support.built_words(choice))
    return _HEAD + "".join(f"{row}\n" for row in rows)


def _row(word: str, section: type[Section]) -> str:
    options = [name for name in section.model_fields if name != "type" and support.is_built(section, name)]
    defaults = {name: _default(section, name) for name in _SIZES if name in options}
    sizes = ", ".join(f"{name} {value}" for name, value in defaults.items() if value)
    about = f"{first_line(section)} {_NOTES.get(word, '')}".strip()
    return f"| `{word}` | {about} | {sizes} | {', '.join(f'`{name}`' for name in options)} |"


def _default(section: type[Section], name: str) -> str:
    """A number or a word; "" for others."""
    found = section.model_fields[name].default
    return f"{found:,}" if type(found) is int else found if isinstance(found, str) else ""
