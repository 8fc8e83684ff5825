from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from trainwright_api.config import ModelConfig, resolve
from trainwright_api.problems import Mistakes
from trainwright_trainer.encoders import ENCODERS
from trainwright_trainer.encoders.inputs import Inputs, tied_lines
from trainwright_trainer.encoders.pretrained import PRETRAINED_TYPES
from trainwright_trainer.loader.batch import Batch, Ragged
from trainwright_trainer.loader.layout import RAGGED, layout_of

STATISTICS: dict[str, dict[str, Any]] = {
    "c": {"vocabulary": ["<UNK>", "a", "b"]},
    "d": {"vocabulary": ["<UNK>", "b", "q", "a"]},
    "e": {"vocabulary": ["<UNK>", "a", "b"]},
    "t": {"vocabulary": ["<UNK>", "a", "b"], "length": 2, "padding": "right"},
    "u": {"vocabulary": ["<UNK>", "a", "b"], "length": 4, "padding": "right"},
    "v": {"size": 2},
    "w": {"size": 3},
}


def inputs(*features: dict[str, Any], joins: bool = True) -> tuple[Inputs, Batch]:
    given = {"input_features": list(features), "output_features": [{"name": "y", "type": "binary"}]}
    config = resolve(ModelConfig.model_validate(given))
    statistics = {feature["name"]: STATISTICS.get(feature["name"], {}) for feature in features} | {"y": {}}
    layout = layout_of(config, statistics)
    floats = torch.arange(2.0 * layout.float_width).reshape(2, -1)
    ints = torch.tensor([[1] * layout.int_width, [2] * layout.int_width])
    rows = Ragged.of(np.array([1, 2, 1]), np.array([0, 1, 3]))
    ragged = tuple(rows for one in features if one["type"] in RAGGED)
    encoders = Inputs(config.input_features, statistics, layout, joins=joins)
    return encoders, Batch(floats, ints, np.arange(2), ragged)


def number(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "number", **more}


def category(name: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "type": "category", **more}


def test_neighbours_that_pass_are_one_slice() -> None:
    encoders, batch = inputs(number("a"), {"name": "v", "type": "vector", "encoder": "passthrough"}, number("b"))
    (whole,) = encoders(batch)
    assert torch.equal(whole, batch.floats[:, :4])
    assert whole.data_ptr() == batch.floats.data_ptr()
    assert encoders.output_size == 4


def test_neighbours_stay_apart_for_a_combiner_that_does_not_join_them() -> None:
    encoders, batch = inputs(number("a"), number("b"), joins=False)
    first, second = encoders(batch)
    assert torch.equal(first, batch.floats[:, :1])
    assert torch.equal(second, batch.floats[:, 1:2])


def test_a_neighbour_in_the_batch_that_is_none_in_the_config_stays_in_its_place() -> None:
    encoders, batch = inputs(number("a"), category("c", encoder="onehot"), number("b"))
    first, second, third = encoders(batch)
    assert torch.equal(torch.cat([first, third], 1), batch.floats[:, :2])
    assert second.tolist() == [[0, 1, 0], [0, 0, 1]]


def test_an_encoder_between_passing_ones_cuts_the_slice() -> None:
    encoders, batch = inputs(number("a"), number("b", encoder={"type": "dense", "output_size": 7}), number("x"))
    assert [part.shape[1] for part in encoders(batch)] == [1, 7, 1]
    assert encoders.output_size == 9


def test_a_number_of_a_class_passes_as_a_float() -> None:
    encoders, batch = inputs(category("c", encoder="passthrough"))
    (column,) = encoders.double()(batch)
    assert column.dtype == torch.float64
    assert column.tolist() == [[1.0], [2.0]]


def test_skip_leaves_the_encoder_out() -> None:
    encoders, batch = inputs(number("a", encoder={"type": "dense", "skip": True}))
    assert torch.equal(encoders(batch)[0], batch.floats[:, :1])


def test_tied_inputs_share_one_encoder_and_match_their_labels() -> None:
    encoders, batch = inputs(category("d", tied="c"), category("c"), category("e", tied="d"))
    assert [name for name, _ in encoders.named_parameters()] == ["c.table.weight"]
    weight = encoders["c"].table.weight
    first, second, third = encoders(batch)
    assert torch.equal(first, weight[[2, 0]])  # "b" is known to c, "q" is not
    assert torch.equal(second, weight[[1, 2]])
    assert torch.equal(third, weight[[1, 2]])


def test_vectors_of_different_sizes_cannot_be_tied() -> None:
    with pytest.raises(Mistakes, match=r"config\.input_features\[1\]\.tied: 'v' has vectors of 2 values, 'w' of 3"):
        inputs({"name": "v", "type": "vector"}, {"name": "w", "type": "vector", "tied": "v"})


@pytest.mark.parametrize(("word", "width"), [("transformer", 256), ("embed", 3)])
def test_a_shared_encoder_has_the_steps_of_the_longest_sequence_that_is_tied_to_it(word: str, width: int) -> None:
    """With the steps of its own column, positions were missing, and later tokens were cut off."""
    encoder = {"type": word, "reduce_output": "concat", "embedding_size": 3}
    features = {"name": "t", "type": "text", "encoder": encoder}, {"name": "u", "type": "text", "tied": "t"}
    encoders, batch = inputs(*features)
    four = Ragged.of(np.array([1, 2, 1, 2, 1]), np.array([0, 4, 5]))
    found = encoders(Batch(batch.floats, batch.ints, batch.rows, (batch.ragged[0], four)))
    assert [one.shape for one in found] == [(2, 4 * width)] * 2


def test_images_of_different_sizes_cannot_be_tied(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, channels in (("p", 3), ("q", 1)):
        known = {"channels": channels, "height": 28, "width": 30, "standardize": None}
        monkeypatch.setitem(STATISTICS, name, known)
    with pytest.raises(Mistakes, match=r"\[1\]\.tied: 'p' has images of 3 × 28 × 30 \(.*\), 'q' of 1 × 28 × 30"):
        inputs({"name": "p", "type": "image"}, {"name": "q", "type": "image", "tied": "p"})


def test_every_encoder_can_be_built() -> None:
    """Encoders of images and pretrained ones have tests of their own."""
    for type_, word in ENCODERS.keys() - {("text", word) for word in PRETRAINED_TYPES}:
        if type_ == "image":
            continue
        name = {"category": "c", "set": "c", "bag": "c", "sequence": "t", "text": "t", "vector": "v"}.get(type_, "x")
        encoder = {"type": word, **({"reduce_output": "sum"} if type_ in ("sequence", "text") else {})}
        encoders, batch = inputs({"name": name, "type": type_, "encoder": encoder})
        (found,) = encoders(batch)
        assert found.shape == (2, encoders.output_size)
        assert encoders.lengths == [None]


def test_values_that_a_shared_encoder_does_not_know_are_told() -> None:
    features = [{"name": "c", "type": "category"}, *({"name": one, "type": "category", "tied": "c"} for one in "de")]
    given = {"input_features": features, "output_features": [{"name": "y", "type": "binary"}]}
    config = resolve(ModelConfig.model_validate(given))
    line = "tied: to the encoder of 'c', 1 of the 3 values of 'd' are unknown: they have one vector"
    assert tied_lines(config.input_features, STATISTICS) == [line]
