from __future__ import annotations

from typing import Any

import pytest
import torch

from trainwright_api.problems import Mistakes

from .making import made

INPUTS = {"size": "number", "kind": "category", "point": "vector"}
ROWS = [torch.randn(5, width, generator=torch.Generator().manual_seed(width)) for width in (1, 3, 2)]


def comparator(**settings: Any) -> Any:
    torch.manual_seed(0)
    entities = {"entity_1": ["point", "size"], "entity_2": ["kind"]}
    return made({"type": "comparator", **entities, **settings}, **INPUTS)


def test_four_comparisons_stand_side_by_side() -> None:
    combiner = comparator(output_size=4)
    first, second = combiner.first(torch.cat([ROWS[2], ROWS[0]], 1)), combiner.second(ROWS[1])
    bilinear = torch.einsum("ri,ji,rj->r", first, combiner.bilinear.weight, second)
    dot = (first * second).sum(1)
    expected = torch.cat([dot[:, None], first * second, (first - second).abs(), bilinear[:, None]], 1)
    torch.testing.assert_close(combiner(ROWS).values, expected)
    assert combiner.output_size == expected.shape[1] == 10


def test_without_layers_the_columns_are_compared() -> None:
    combiner = comparator(num_fc_layers=0)
    values = combiner(ROWS).values
    torch.testing.assert_close(values[:, 1:4], torch.cat([ROWS[2], ROWS[0]], 1) * ROWS[1])


def test_entities_of_different_widths_need_layers() -> None:
    with pytest.raises(Mistakes, match="num_fc_layers: without layers the entities have 2 and 4 columns"):
        comparator(num_fc_layers=0, entity_1=["point"], entity_2=["kind", "size"])


@pytest.mark.parametrize(
    ("entities", "line"),
    [
        ({"entity_1": ["pount", "size"]}, "'pount' is no input feature: did you mean 'point'?"),
        ({"entity_1": ["point"]}, "each input belongs to an entity; missing: size"),
        ({"entity_1": ["point", "size", "kind"]}, "'kind' belongs to both entities"),
        ({"entity_1": None}, "needs the names of at least one input here"),
    ],
)
def test_entities_that_do_not_fit_are_refused(entities: dict[str, Any], line: str) -> None:
    with pytest.raises(ValueError) as refused:  # noqa: PT011
        comparator(**entities)
    assert line in str(refused.value)
