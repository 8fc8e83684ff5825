"""One small job for each encoder, combiner and decoder of the registries."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from trainwright_api.checks import support
from trainwright_api.config.decoders import DECODERS
from trainwright_api.config.encoders import encoder_choice
from trainwright_trainer.encoders import ENCODERS
from trainwright_trainer.encoders.text_models import FAMILIES
from trainwright_trainer.layers.names import module_key

from .export_jobs import rows
from .test_combiners import SMALL as COMBINERS
from .test_images import OWN, SMALLEST
from .test_sequence_encoders import SMALL as SEQUENCES
from .tiny_text import WORDS

TRAINING, ROWS = 16, 24
"""The training rows, of which an epoch makes two steps, and all rows."""
TARGETS: Mapping[str, str] = {
    "number": "delay",
    "binary": "late",
    "category": "why",
    "vector": "place",
    "set": "tags",
    "sequence": "words",
    "text": "answer",
}
"""The columns of `export_jobs.rows`, by type of output."""
FREEZING: Mapping[str, str] = {"trainable": "", "embeddings_trainable": "table"}
"""The fields that freeze an encoder, and a part of the names of the tensors that they freeze."""
_WIDTHS = {"number": 1, "binary": 1, "category": 3, "vector": 2, "set": 4}
"""The values of a row of each target: a category and a set have one for the unknown, which no row has."""
_STEPS = {"type": "rnn", "state_size": 4, "embedding_size": 3, "reduce_output": None}
_COMBINERS: Mapping[str, Mapping[str, Any]] = {
    **COMBINERS,
    "comparator": {"entity_1": ["a number", "a category"], "entity_2": ["a text"], "output_size": 6},
    "sequence_concat": {"main_sequence_feature": "a text"},
}


@dataclass(frozen=True)
class Part:
    """An encoder of an input of type `kind`, a decoder of an output of type `kind`, or a combiner."""

    role: str
    kind: str
    word: str

    def __str__(self) -> str:
        return "-".join(word for word in (self.role, self.kind, self.word) if word)

    @property
    def prefix(self) -> str:
        """The beginning of the names of its tensors, if it is an encoder."""
        return f"encoders.{module_key(f'a {self.kind}')}."

    @property
    def freezing(self) -> list[str]:
        """The fields that freeze it."""
        fields = encoder_choice(self.kind).section(self.word).model_fields if self.role == "encoder" else {}
        return [name for name in FREEZING if name in fields]


def parts() -> list[Part]:
    """All names of the registries."""
    decoders = [(kind, word) for kind in support.OUTPUTS for word in DECODERS[kind] if word in support.DECODERS]
    return [
        *(Part("encoder", kind, word) for kind, word in ENCODERS),
        *(Part("combiner", "", word) for word in support.COMBINERS),
        *(Part("decoder", kind, word) for kind, word in decoders),
    ]


def write_rows(path: Path) -> None:
    """The rows of all jobs, with their split."""
    table = rows(ROWS)
    draws = np.random.default_rng(1)
    table["a text"] = [" ".join(draws.choice(WORDS, draws.integers(1, 9))) for _ in range(len(table))]
    table["split"] = [0] * TRAINING + [1] * 4 + [2] * 4
    table.to_parquet(path)


def job_of(part: Part, home: Path, encoder: Mapping[str, Any] | None = None, **trainer: Any) -> dict[str, Any]:
    """A job with the part. `home`: the folder of the rows and of tiny pretrained models. `encoder`: more fields."""
    made = {"encoder": _with_encoder, "combiner": _with_combiner, "decoder": _with_decoder}[part.role](part, home)
    if encoder:
        made["input_features"][0]["encoder"] |= encoder
    made["trainer"] = {"epochs": 1, "batch_size": 8, "learning_rate": 0.01, "optimizer": "sgd", **trainer}
    made["preprocessing"] = {"split": {"type": "fixed", "column": "split"}}
    return {"dataset": str(home / "rows.parquet"), "config": made, "report": {"maxSeconds": 0}}


def _with_encoder(part: Part, home: Path) -> dict[str, Any]:
    kind, word = part.kind, part.word
    feature: dict[str, Any] = {"name": f"a {kind}", "type": kind, "encoder": {"type": word}}
    if kind == "image":
        size, own = SMALLEST.get(word, (32, {}))
        feature["preprocessing"] = {"height": size, "width": size, "num_channels": 3}
        feature["encoder"] |= {**own, **({} if word in OWN else {"use_pretrained": False})}
    elif kind == "text" and word in (*FAMILIES, "auto_transformer"):
        folder = home / ("bert" if word == "auto_transformer" else word)
        feature["encoder"] |= {"pretrained_model_name_or_path": str(folder), "reduce_output": "mean"}
    else:
        feature["encoder"] |= SEQUENCES.get(word, {}) if kind in ("text", "sequence") else {}
    return {"input_features": [feature], "output_features": [{"name": "late", "type": "binary"}]}


def _with_combiner(part: Part, home: Path) -> dict[str, Any]:
    made = _tabular(home)
    made["combiner"] = {"type": part.word, **_COMBINERS.get(part.word, {})}
    if part.word.startswith("sequence"):
        made["input_features"] = [one for one in made["input_features"] if one["type"] == "text"]
        made["input_features"][0]["encoder"] = _STEPS
    return made


def _tabular(_: Path) -> dict[str, Any]:
    inputs = [
        {"name": "a number", "type": "number"},
        {"name": "a category", "type": "category"},
        {"name": "a text", "type": "text", "encoder": {**_STEPS, "reduce_output": "last"}},
    ]
    return {"input_features": inputs, "output_features": [{"name": "late", "type": "binary"}]}


def _with_decoder(part: Part, home: Path) -> dict[str, Any]:
    made = _tabular(home)
    decoder: dict[str, Any] = {"type": part.word}
    output: dict[str, Any] = {"name": TARGETS[part.kind], "type": part.kind, "decoder": decoder}
    if part.word == "passthrough":
        decoder["fc_layers"] = [{"output_size": _WIDTHS[part.kind]}]
    if part.word == "tagger":
        return {
            "input_features": [{"name": "a sequence", "type": "sequence", "encoder": _STEPS}],
            "combiner": {"type": "sequence_concat"},
            "output_features": [output],
        }
    made["output_features"] = [output]
    return made
