"""The rows of a run of an exported graph, by which its memory is bounded."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.config import ModelConfig
from trainwright_trainer.export.graph import graph_inputs, graph_outputs
from trainwright_trainer.export.transform import Transform
from trainwright_trainer.loader.layout import layout_of
from trainwright_trainer.serving import rows_at_a_time

TOKENS = {"vocabulary": ["<UNK>", *map(str, range(999))], "length": 256}
STATISTICS: dict[str, dict[str, Any]] = {
    "text": TOKENS,
    "set": TOKENS,
    "image": {"channels": 3, "height": 8, "width": 8},
    "number": {},
    "binary": {},
    "category": TOKENS,
    "sequence": TOKENS,
}


def transform(inputs: list[str], output: str, combiner: str = "concat") -> Transform:
    """The inputs are called a0, a1, … and the output y."""
    features = [{"name": f"a{at}", "type": kind} for at, kind in enumerate(inputs)]
    given = {"input_features": features, "output_features": [{"name": "y", "type": output}], "combiner": combiner}
    config = ModelConfig.model_validate(given)
    statistics = {one.name: STATISTICS[one.type] for one in (*config.input_features, *config.output_features)}
    graph = graph_inputs(config, statistics, layout_of(config, statistics)), graph_outputs(config, statistics, None)
    return Transform(config, statistics, *graph, "model.onnx", "1")


@pytest.mark.parametrize(
    ("inputs", "output", "combiner", "rows"),
    [
        (["number"] * 100, "binary", "concat", 4096),
        (["set", "number"], "binary", "concat", 4096),
        (["text"], "binary", "concat", 64),
        (["text", "text"], "binary", "concat", 32),
        (["set"] * 64, "binary", "tabtransformer", 256),
        (["image"], "binary", "concat", 64),
        (["number"], "sequence", "concat", 65),
    ],
)
def test_a_run_has_few_rows_of_many_steps_or_logits(inputs: list[str], output: str, combiner: str, rows: int) -> None:
    assert rows_at_a_time(transform(inputs, output, combiner)) == rows


def test_few_rows_with_many_logits_are_in_memory() -> None:
    assert transform(["number"], "binary").most_rows == 65_536
    assert transform(["number"], "category").most_rows == (1 << 24) // 1000
    assert transform(["number"], "sequence").most_rows == (1 << 24) // (256 * 1001)
