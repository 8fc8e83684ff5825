from __future__ import annotations

from typing import Any

import pytest
import torch

from trainwright_api.problems import Mistakes

from .making import made

SMALL = {"hidden_size": 8, "num_heads": 2, "transformer_output_size": 6, "dropout": 0.0}
INPUTS = {"size": "number", "kind": "category", "open": "binary", "other": "category"}
ROWS = [torch.randn(5, width, generator=torch.Generator().manual_seed(width)) for width in (1, 3, 1, 3)]


def transformer(**settings: Any) -> Any:
    torch.manual_seed(0)
    return made({"type": "transformer", **SMALL, **settings}, **INPUTS)


def tabtransformer(inputs: dict[str, str] | None = None, **settings: Any) -> Any:
    torch.manual_seed(0)
    return made({"type": "tabtransformer", **SMALL, **settings}, **(inputs or INPUTS))


def test_each_input_is_a_step_of_its_own() -> None:
    combiner = transformer(num_layers=2)
    steps = torch.stack([layer(rows) for layer, rows in zip(combiner.attention.projections, ROWS, strict=True)], 1)
    for block in combiner.attention.blocks:
        steps = block(steps)
    torch.testing.assert_close(combiner(ROWS).values, steps.mean(1))
    assert len(combiner.attention.blocks) == 2
    assert combiner.output_size == 8


def test_without_a_reduction_the_result_is_a_sequence() -> None:
    combiner = transformer(reduce_output=None)
    assert combiner(ROWS).values.shape == (5, 4, 8)
    assert (combiner.output_length, combiner.output_size) == (4, 8)


def test_layers_follow_the_reduction() -> None:
    combiner = transformer(reduce_output="concat", num_fc_layers=1, output_size=3, fc_activation="sigmoid")
    values = combiner(ROWS).values
    assert values.shape == (5, 3)
    assert combiner.stack.layers[0].linear.weight.shape == (3, 32)
    assert ((values > 0) & (values < 1)).all()


def test_numbers_and_binaries_follow_beside_the_attended_inputs() -> None:
    combiner = tabtransformer()
    values = combiner(ROWS).values
    attended = combiner.attention([ROWS[1], ROWS[3]]).flatten(1)
    columns = torch.nn.functional.layer_norm(torch.cat([ROWS[0], ROWS[2]], 1), (2,))
    torch.testing.assert_close(values, torch.cat([attended, columns], 1))
    assert combiner.output_size == 2 * 8 + 2


def test_one_column_has_no_layer_norm() -> None:
    combiner = tabtransformer({"size": "number", "kind": "category"})
    assert torch.equal(combiner(ROWS[:2]).values[:, -1:], ROWS[0])


def test_without_numbers_there_is_only_the_attention() -> None:
    combiner = tabtransformer({"kind": "category"})
    assert combiner([ROWS[1]]).values.shape == (5, 8)


@pytest.mark.parametrize(("named", "width", "projected"), [("add", 8, 8), (3, 3, 5)])
def test_the_name_of_an_input_is_added_or_stands_beside(named: Any, width: int, projected: int) -> None:
    combiner = tabtransformer(embed_input_feature_name=named)
    assert combiner.names.weight.shape == (2, width)
    assert combiner.attention.projections[0].weight.shape == (projected, 3)
    before = combiner(ROWS).values
    torch.nn.init.zeros_(combiner.names.weight)
    assert not torch.equal(combiner(ROWS).values, before)
    if named == "add":
        torch.testing.assert_close(combiner(ROWS).values, tabtransformer_with_the_weights_of(combiner)(ROWS).values)


def tabtransformer_with_the_weights_of(combiner: Any) -> Any:
    other = tabtransformer()
    other.load_state_dict({name: one for name, one in combiner.state_dict().items() if name != "names.weight"})
    return other


@pytest.mark.parametrize(
    ("make", "settings", "line"),
    [
        (transformer, {"num_heads": 3}, "hidden_size"),
        (transformer, {"reduce_output": None, "num_fc_layers": 1}, "reduce_output is null: name a reduction"),
        (tabtransformer, {"reduce_output": None}, "tabtransformer returns one vector: name a reduction"),
        (tabtransformer, {"embed_input_feature_name": 8}, "part of hidden_size 8: give a smaller number"),
        (tabtransformer, {"inputs": {"size": "number"}}, "neither number nor binary, and there are none"),
    ],
)
def test_settings_that_do_not_fit_are_refused(make: Any, settings: dict[str, Any], line: str) -> None:
    with pytest.raises((Mistakes, ValueError), match=line):
        make(**settings)
