"""Jobs that together have every input, encoder, combiner and output of the exports, and the rows that they predict."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from io import BytesIO
from typing import Any

import numpy as np
import pandas as pd
from PIL import Image

from trainwright_api.checks import support
from trainwright_trainer.export import refusals

from .test_combiners import ATTENTION
from .test_combiners import SMALL as COMBINERS
from .test_images import CNN, OWN, SMALLEST
from .test_sequence_encoders import SMALL as SEQUENCES

WORDS = ["late", "storm", "crew", "fog", "snow", "a", "of"]
INPUTS: Mapping[str, Mapping[str, Any]] = {
    "number": {"preprocessing": {"normalization": "zscore", "missing_value_strategy": "fill_with_mean"}},
    "binary": {"preprocessing": {"missing_value_strategy": "fill_with_mode"}},
    "category": {"preprocessing": {"missing_value_strategy": "drop_row"}},
    "date": {},
    "vector": {},
    "set": {},
    "bag": {},
    "sequence": {"preprocessing": {"max_sequence_length": 9}},
    "text": {"preprocessing": {"max_sequence_length": 8, "tokenizer": "space_punct"}},
    "image": {"preprocessing": {"height": 16, "width": 20, "num_channels": 3}},
}
"""The settings of the inputs, whose names are those of their types with a space and a letter before them."""
OUTPUTS = (
    {"name": "delay", "type": "number", "preprocessing": {"normalization": "log1p"}, "clip": [0, 40]},
    {"name": "late", "type": "binary", "calibration": True},
    {"name": "why", "type": "category"},
    {"name": "place", "type": "vector", "reduce_input": "mean"},
    {"name": "tags", "type": "set"},
    {"name": "words", "type": "sequence"},
    {"name": "answer", "type": "text"},
)
IMAGES = OWN
IMAGE_FIELDS: Mapping[str, Mapping[str, Any]] = {"stacked_cnn": CNN, "mlp_mixer": SMALLEST["mlp_mixer"][1]}
CELLS = ("gru", "lstm", "rnn")
TAGGERS: tuple[Mapping[str, Any], ...] = (
    {"type": "tagger", "num_fc_layers": 1, "fc_output_size": 5, "fc_norm": "batch"},
    {"type": "tagger", "use_attention": True, "attention_embedding_size": 4, "attention_num_heads": 2},
)
KINDS = [kind for kind in support.INPUTS if kind in refusals.INPUTS]
TOGETHER: Mapping[str, Mapping[str, Any]] = {
    **COMBINERS,
    "comparator": {
        "entity_1": [f"a {kind}" for kind in KINDS[:4]],
        "entity_2": [f"a {kind}" for kind in KINDS[4:]],
        "output_size": 6,
    },
    "sequence_concat": {"main_sequence_feature": "a text"},
    "tabtransformer": {**ATTENTION, "embed_input_feature_name": 3, "num_fc_layers": 1, "output_size": 6},
}
OF_VECTORS = [word for word in support.COMBINERS if not word.startswith("sequence")]
OF_SEQUENCES = [word for word in support.COMBINERS if word.startswith("sequence")]
REDUCED = max(len(support.ENCODERS[kind]) for kind in KINDS if kind not in ("text", "image"))
JOBS = REDUCED + len(OF_SEQUENCES)
"""Job i has encoder i of each type, and combiner i. The last ones have the combiners of sequences."""


def words_of(kind: str) -> tuple[str, ...]:
    """The encoders of a type. Those of models of libraries have tests of their own."""
    if kind == "image":
        return IMAGES
    return support.ENCODERS["sequence" if kind == "text" else kind]


def _combiner(place: int) -> str:
    return OF_SEQUENCES[place - REDUCED] if place >= REDUCED else OF_VECTORS[place % len(OF_VECTORS)]


def _output(feature: Mapping[str, Any], place: int) -> dict[str, Any]:
    """A sequence has a generator with each type of cell, and where the combiner keeps a sequence a tagger."""
    if feature["type"] not in ("sequence", "text"):
        return dict(feature)
    if _combiner(place) == "sequence_concat":
        return {**feature, "decoder": TAGGERS[feature["type"] == "text"]}
    return {**feature, "decoder": {"type": "generator", "cell_type": CELLS[place % 3], "num_layers": 1 + place % 2}}


def _input(kind: str, place: int) -> dict[str, Any]:
    word = words_of(kind)[place % len(words_of(kind))]
    own = {"type": word, **(SEQUENCES.get(word, {}) if kind in ("sequence", "text") else {})}
    if kind == "image":
        own |= IMAGE_FIELDS.get(word, {})
    if place >= REDUCED and kind == "text":
        own = {"type": "embed", "embedding_size": 3, "reduce_output": None}
    elif kind in ("sequence", "text") and word != "passthrough":
        own["embedding_size"] = 3
    return {"name": f"a {kind}", "type": kind, "encoder": own, **INPUTS[kind]}


def job(place: int, **trainer: Any) -> dict[str, Any]:
    """The config of a job, without a data set."""
    combiner = _combiner(place)
    fixed = {"epochs": 1, "batch_size": 64, "learning_rate": 0.01, **trainer}
    return {
        "input_features": [_input(kind, place) for kind in KINDS],
        "combiner": {"type": combiner, **TOGETHER[combiner]},
        "output_features": [_output(one, place) for one in OUTPUTS],
        "trainer": fixed,
    }


@cache
def _pictures() -> list[bytes]:
    """PNG and JPEG files of several sizes and modes."""
    draws, made = np.random.default_rng(0), []
    for number in range(40):
        size = (20, 16) if number % 2 else tuple(draws.integers(10, 40, 2).tolist())
        image = Image.frombytes("RGB", size, draws.bytes(3 * size[0] * size[1])).convert(("RGB", "L")[number % 3 == 0])
        file = BytesIO()
        image.save(file, ("png", "jpeg")[number % 2])
        made.append(file.getvalue())
    return made


def rows(count: int, *, seed: int = 0, gaps: bool = False) -> pd.DataFrame:
    """A table of these jobs. With `gaps`, some cells are missing, and some have values that no other table has."""
    draws = np.random.default_rng(seed)
    number = draws.normal(100, 30, count)
    texts = [" ".join(draws.choice(WORDS, draws.integers(0, 12))) for _ in range(count)]
    found = pd.DataFrame(
        {
            "a number": number,
            "a binary": draws.choice(["yes", "no"], count),
            "a category": draws.choice(["x", "y", "z"], count),
            "a date": pd.Timestamp("2013-01-01") + pd.to_timedelta(draws.integers(0, 10**8, count), "s"),
            "a vector": [" ".join(map(repr, row)) for row in draws.normal(size=(count, 3)).round(3).tolist()],
            "a set": [" ".join(draws.choice(WORDS, draws.integers(0, 5))) for _ in range(count)],
            "a bag": [" ".join(draws.choice(WORDS, draws.integers(0, 9))) for _ in range(count)],
            "a sequence": texts,
            "a text": [f"{text}!" for text in reversed(texts)],
            "a image": draws.choice(np.array(_pictures(), dtype=object), count),
            "delay": np.abs(number / 10 + draws.normal(0, 1, count)),
            "late": np.where(number + draws.normal(0, 10, count) > 100, "yes", "no"),
            "why": draws.choice(["fog", "snow", "crew"], count),
            "tags": [" ".join(draws.choice(WORDS[:3], 2)) for _ in range(count)],
            "words": texts,
            "answer": [" ".join(text.split()[:2]) for text in texts],
            "place": [" ".join(map(repr, row)) for row in draws.normal(size=(count, 2)).round(3).tolist()],
        }
    )
    if gaps:
        for name in ("a number", "a binary", "a category", "a date", "a set", "a bag", "a text", "a image"):
            found.loc[draws.random(count) < 0.05, name] = None
        found.loc[draws.random(count) < 0.05, "a category"] = "unseen"
        found.loc[draws.random(count) < 0.05, "a set"] = "unseen words"
    return found
