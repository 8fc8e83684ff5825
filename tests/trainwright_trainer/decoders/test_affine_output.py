"""An output starts at what the training rows are like, and then keeps the unit of its target."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from tests.trainwright_trainer.decoders.test_outputs import outputs

NOTHING = torch.zeros(3, 4)


def logits(feature: dict[str, Any], combined: torch.Tensor = NOTHING) -> torch.Tensor:
    return outputs(feature)(combined)[feature["name"]]


def test_a_number_starts_at_the_mean_and_is_measured_in_standard_deviations() -> None:
    found = outputs({"name": "n", "type": "number"})
    combined = torch.randn(50, 4)
    torch.testing.assert_close(found(NOTHING)["n"], torch.full((3,), 100.0))
    torch.testing.assert_close(found(combined)["n"], 100 + 5 * found["n"].head(combined).squeeze(1))


def test_a_vector_starts_at_the_mean_of_each_value_and_a_constant_has_the_unit_one() -> None:
    found = outputs({"name": "v", "type": "vector"})
    combined = torch.randn(5, 4)
    expected = found["v"].head(combined) * torch.tensor([2.0, 1.0]) + torch.tensor([1.0, -10.0])
    torch.testing.assert_close(found(combined)["v"], expected)


def test_the_bounds_of_a_vector_hold_after_the_start() -> None:
    clip = {"name": "v", "type": "vector", "decoder": {"type": "projector", "clip": [-3.0, 0.5]}}
    torch.testing.assert_close(logits(clip), torch.tensor([[0.5, -3.0]]).repeat(3, 1))


def test_a_binary_starts_at_the_share_of_true() -> None:
    torch.testing.assert_close(torch.sigmoid(logits({"name": "b", "type": "binary"})), torch.full((3,), 10 / 40))


def test_a_category_starts_at_the_shares_of_its_classes_and_one_without_rows_stays_possible() -> None:
    expected = torch.tensor([[0.6, 0.3, 0.1]]).repeat(3, 1)
    torch.testing.assert_close(torch.softmax(logits({"name": "c", "type": "category"}), 1), expected)


def test_a_set_starts_at_the_share_of_each_token_of_the_rows_that_are_not_dropped() -> None:
    expected = torch.tensor([[1 / 8, 4 / 8]]).repeat(3, 1)
    torch.testing.assert_close(torch.sigmoid(logits({"name": "s", "type": "set"})), expected)


@pytest.mark.parametrize(
    "feature",
    [
        {"decoder": {"type": "projector", "activation": "tanh"}},
        {"decoder": {"type": "projector", "multiplier": 2.0}},
        {"softmax": True},
        {"loss": {"type": "softmax_cross_entropy"}},
    ],
)
def test_a_vector_that_the_config_shapes_itself_has_no_start(feature: dict[str, Any]) -> None:
    assert outputs({"name": "v", "type": "vector", **feature})["v"].start is None


def test_the_start_is_state_and_no_parameter() -> None:
    found = outputs({"name": "n", "type": "number"})
    assert {"n.start.shift", "n.start.scale"} <= set(found.state_dict())
    assert not [name for name, _ in found.named_parameters() if "start" in name]
