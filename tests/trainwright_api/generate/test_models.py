from __future__ import annotations

import re

from trainwright_api.checks import support
from trainwright_api.generate.models import models


def rows_of(heading: str) -> list[str]:
    """The names in the table below a heading."""
    part = models().partition(f"\n{heading}")[2].partition("\n#")[0]
    return re.findall(r"^\| `(\w+)` \|", part, re.MULTILINE)


def test_the_page_has_each_built_encoder_of_each_type_and_no_other() -> None:
    for kind, words in support.ENCODERS.items():
        assert sorted(rows_of(f"### {kind}:")) == sorted(words), kind


def test_the_page_has_the_combiners_and_the_outputs() -> None:
    assert sorted(rows_of("## Combiners")) == sorted(support.COMBINERS)
    assert sorted(rows_of("## Outputs")) == sorted(support.OUTPUTS)


def test_a_row_has_sizes_and_built_options_alone() -> None:
    row = next(line for line in models().splitlines() if line.startswith("| `bert` |"))
    assert "hidden_size 768" in row
    assert "`adapter`" in row
    assert "`gradient_checkpointing`" not in row
