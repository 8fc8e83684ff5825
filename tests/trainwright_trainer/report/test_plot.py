from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.report.plot import SQUARE, apart, axes, drawing
from trainwright_trainer.report.scales import Scale


def test_a_drawing_has_a_name_and_scales_with_its_column() -> None:
    made = drawing(340, 220, "loss <by> epoch")
    assert made.startswith('<svg viewBox="0 0 340 220" role="img"')
    assert "<title>loss &lt;by&gt; epoch</title>" in made


def test_axes_carry_both_names() -> None:
    made = axes(SQUARE, Scale(0, 1, *SQUARE.x), Scale(0, 1, *SQUARE.y), "false positive rate", "true positive rate")
    assert ">false positive rate</text>" in made
    assert ">true positive rate</text>" in made


@given(st.lists(st.floats(20, 180), max_size=6))
def test_labels_keep_apart_and_in_order(wanted: list[float]) -> None:
    placed = apart(wanted, 13, 20, 180)
    assert all(19.999 <= place <= 180.001 for place in placed)
    order = sorted(range(len(wanted)), key=lambda index: wanted[index])
    assert all(placed[b] - placed[a] >= 12.999 for a, b in pairwise(order))


def test_labels_that_do_not_collide_stay() -> None:
    assert apart([100, 40], 13, 20, 180) == [100, 40]
