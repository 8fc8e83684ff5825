"""The page of Ludwig's names: nothing is left out, and built means built."""

from __future__ import annotations

import pytest

from trainwright_api.generate.ludwig import WILL_NOT, ludwig_names
from trainwright_api.ludwig.names import LudwigSection, ludwig_sections
from trainwright_api.upgrade.layers import REMOVED
from trainwright_api.upgrade.trainer import OF_LLMS, SCHEDULER

PAGE = ludwig_names()
ROWS = [line for line in PAGE.splitlines() if line.startswith("| `") and line.count(" | ") > 3]


def cells(name: str, kind: str = "") -> list[str]:
    """The cells of the row of a section."""
    title = f"| `{name}`{f' ({kind})' if kind else ''} |"
    (row,) = [row for row in ROWS if row.startswith(title)]
    return [cell.strip() for cell in row.split("|")[1:-1]]


def test_every_section_has_one_row() -> None:
    assert len(ROWS) == len(ludwig_sections())


@pytest.mark.parametrize("section", ludwig_sections(), ids=lambda section: f"{section.kind}-{section.name}")
def test_every_field_is_in_the_row_of_its_section(section: LudwigSection) -> None:
    rows = [row for row in ROWS if row.startswith(f"| `{section.name}`")]
    assert any(all(f"`{field}`" in row for field in section.fields) for row in rows)


def test_what_is_built_and_what_is_not() -> None:
    assert cells("concat")[2:5] == ["yes", cells("concat")[3], "`batch_ensemble`, `num_ensemble_members`"]
    assert "`flatten_inputs`" in cells("concat")[3]
    assert cells("ft_transformer")[1:4] == ["0.17", "no", ""]
    assert cells("dense", "number feature")[2] == "yes"
    assert cells("ple", "number feature")[1:4] == ["0.17", "no", ""]
    assert cells("adam")[3:] == ["`amsgrad`, `betas`, `eps`, `weight_decay`", "", ""]
    assert "`computed_fill_value`" in cells("binary_output")[5]


def test_no_trainer_of_large_language_models_is_built() -> None:
    trainers = [section.name for section in ludwig_sections() if section.kind == "trainer of an llm"]
    assert sorted(trainers) == sorted(OF_LLMS)
    assert {tuple(cells(name)[2:4]) for name in trainers} == {("no", "")}


def test_every_reason_is_given_for_a_field_of_the_page() -> None:
    for name, reason in WILL_NOT.items():
        assert f"* `{name}`: {reason}." in PAGE
        assert any(f"`{name}`" in row.split("|")[-2] for row in ROWS), name


def test_the_old_forms_are_listed() -> None:
    for name in (*SCHEDULER, *REMOVED, "training", "numerical"):
        assert name in PAGE.partition("## Sections")[0]
