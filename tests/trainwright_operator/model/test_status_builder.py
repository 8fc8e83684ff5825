"""The status that a pass builds."""

from __future__ import annotations

import pytest

from trainwright_operator.model.status_builder import fitted


@pytest.mark.parametrize("between", ["\n  ", "; "])
def test_a_message_longer_than_a_condition_may_be_ends_after_a_whole_part(between: str) -> None:
    part = "a mistake of forty characters, as most is"
    parts = [part] * 2000
    found = fitted(between.join(parts))
    assert len(found) <= 32_768
    *kept, more = found.split(between.strip(" "))
    assert {one.strip() for one in kept} == {part}
    assert more == " …"


def test_a_message_without_parts_is_cut_at_a_letter() -> None:
    assert fitted("ä" * 40_000) == "ä" * 32_766 + " …"
    assert fitted("ä" * 32_768) == "ä" * 32_768
