"""Small Ludwig configs for every word of the contract: types, encoders, combiners, decoders, losses, optimizers.

They are generated from the contract's own choices, so a new word gives a new config.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

from trainwright_api.config import ModelConfig
from trainwright_api.config.data import PreprocessingConfig
from trainwright_api.config.layers import FullyConnectedLayer
from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.schema.choice import Choice
from trainwright_api.schema.field_schema import FieldSchema, schema_of
from trainwright_api.schema.section import Section

Job = dict[str, Any]

INPUTS = {
    "number": "size",
    "binary": "open",
    "category": "kind",
    "date": "when",
    "vector": "point",
    "image": "picture",
}
OUTPUTS = {"number": "delay", "binary": "late", "category": "class", "vector": "shares"}
"""Columns by type. `tests/laws/option_data.py` writes a data set with them."""
WIDTHS = {"category": 3, "vector": 2, "set": 4}
"""The number of values that a decoder gives per row, if more than one."""
NEEDED: Mapping[str, Mapping[str, Any]] = {
    "comparator": {"entity_1": ["size"], "entity_2": ["kind"]},
    "fixed": {"column": "split"},
    "hash": {"column": "kind"},
    "stratify": {"column": "kind"},
    "datetime": {"column": "made"},
}
"""The required fields of a section of this type."""
A_SEQUENCE: Job = {"name": "path", "type": "sequence", "encoder": {"type": "embed", "reduce_output": None}}
"""An input for the combiners of sequences."""
A_RANGE: Job = {"type": "ray", "trainer": {"num_workers": {"min": 1, "max": 2}}}
BACKENDS: Mapping[str, Job] = {
    "local": {"type": "local"},
    "ray": {"type": "ray"},
    "deepspeed": {"type": "deepspeed"},
    "horovod": {"type": "horovod"},
    **{
        f"ray with {word}": {"type": "ray", "trainer": {"strategy": word}}
        for word in ("ddp", "fsdp", "deepspeed", "horovod")
    },
    **{f"ray, {word}": {"type": "ray", "processor": {"type": word}} for word in ("pandas", "dask", "modin")},
    "ray, a range": A_RANGE,
    "streaming": {"loader": {"fully_executed": False}},
    "windows": {"loader": {"window_size_bytes": 1000}},
    "another store": {"cache_dir": "abfs://bucket/cache"},
}
TRAINERS: Mapping[str, Any] = {"learning_rate": "auto", "eval_batch_size": "auto", "enable_profiling": True}


def corpus() -> Iterator[tuple[str, Job]]:
    """The configs, each as a job with its name."""
    yield from _of_inputs()
    yield from _of_outputs()
    yield from _of_sections("combiner", ModelConfig, "combiner")
    yield from _of_sections("trainer.optimizer", TrainerConfig, "optimizer")
    yield from _of_sections("preprocessing.split", PreprocessingConfig, "split")
    for name, backend in BACKENDS.items():
        yield f"backend {name}", {**job(), "backend": copy.deepcopy(backend)}
    yield "a range with a batch in rows", {**job(trainer={"effective_batch_size": 80}), "backend": A_RANGE}
    for key, value in TRAINERS.items():
        yield f"trainer.{key}", job(trainer={key: value})
    for word in schema_of(FullyConnectedLayer.model_fields["norm"]).words:
        yield f"norm {word}", job(combiner={"type": "concat", "fc_layers": [{"norm": word}]})


def job(**sections: Any) -> Job:
    """A job that trains in a moment, with these sections of its config replaced."""
    config: Job = {
        "input_features": [{"name": "size", "type": "number"}, {"name": "kind", "type": "category"}],
        "output_features": [{"name": "late", "type": "binary"}],
        "trainer": {"epochs": 1, "batch_size": 80},
    }
    if _word_of(sections.get("combiner")).startswith("sequence"):
        config["input_features"] = [A_SEQUENCE]
    trainer = {**config["trainer"], **sections.pop("trainer", {})}
    whole = copy.deepcopy({**config, **sections, "trainer": trainer})
    return {"dataset": "rows.parquet", "config": whole, "backend": {"type": "local"}}


def _word_of(section: Any) -> str:
    return section if isinstance(section, str) else (section or {}).get("type", "")


def _of_inputs() -> Iterator[tuple[str, Job]]:
    for kind, section in _sections(ModelConfig, "input_features"):
        source: Job = {"name": INPUTS.get(kind, "kind"), "type": kind}
        yield f"input {kind}", job(input_features=[source])
        for word in _choice(section, "encoder").words:
            yield f"input {kind}, encoder {word}", job(input_features=[{**source, "encoder": {"type": word}}])


def _of_outputs() -> Iterator[tuple[str, Job]]:
    for kind, section in _sections(ModelConfig, "output_features"):
        target: Job = {"name": OUTPUTS.get(kind, "class"), "type": kind}
        yield f"output {kind}", job(output_features=[target])
        for word in _choice(section, "decoder").words:
            decoder = {
                "type": word,
                **({"fc_layers": [{"output_size": WIDTHS.get(kind, 1)}]} if word[0] == "p" else {}),
            }
            combiner = {"combiner": {"type": "sequence_concat"}} if word == "tagger" else {}
            yield f"output {kind}, decoder {word}", job(output_features=[{**target, "decoder": decoder}], **combiner)
        for word in _choice(section, "loss").words:
            yield f"output {kind}, loss {word}", job(output_features=[{**target, "loss": {"type": word}}])


def _of_sections(path: str, owner: type[Section], field: str) -> Iterator[tuple[str, Job]]:
    """One config for each word of a section, as an object, and also as the bare word if nothing else is required."""
    for word in _choice(owner, field).words:
        given = {"type": word, **NEEDED.get(word, {})}
        for name, value in ((word, given), *([(f"{word}, bare", word)] if word not in NEEDED else [])):
            above, _, key = path.rpartition(".")
            yield f"{path} {name}", job(**({above: {key: value}} if above else {key: value}))


def _sections(owner: type[Section], field: str) -> Iterator[tuple[str, type[Section]]]:
    choice = _choice(owner, field)
    for word in choice.words:
        yield word, choice.section(word)


def _choice(owner: type[Section], field: str) -> Choice:
    schema: FieldSchema | None = schema_of(owner.model_fields[field])
    while schema is not None and schema.choice is None:
        schema = schema.item
    assert schema is not None
    assert schema.choice is not None
    return schema.choice
