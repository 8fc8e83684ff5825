"""The table of Ludwig's names, and the sections of the contract that they belong to."""

from __future__ import annotations

from collections import Counter

import pytest

from trainwright_api.ludwig.counterparts import counterpart, fields_by_class, words_of_choice
from trainwright_api.ludwig.names import LudwigSection, ludwig_sections

WITHOUT_COUNTERPART = {
    *(("section", name) for name in ("generation", "model_parameters", "prompt", "quantization", "retrieval")),
    ("section", "rope_scaling"),
    ("decoder of a category output", "category_extractor"),
    ("decoder of a text output", "text_extractor"),
    ("defaults", "category_distribution"),
}
"""Sections of Ludwig 0.11 that the contract does not have. Most are for large language models."""

IN_0_11 = [section for section in ludwig_sections() if section.versions != "0.17"]


def test_each_section_is_listed_once() -> None:
    counts = Counter((section.kind, section.name) for section in ludwig_sections())
    assert counts.most_common(1)[0][1] == 1
    assert len(IN_0_11) > 200


def test_the_marks_give_the_versions() -> None:
    sections = {(section.kind, section.name): section for section in ludwig_sections()}
    assert sections["combiner", "ft_transformer"].versions == "0.17"
    assert sections["combiner", "concat"].versions == "0.11, 0.17"
    assert "batch_ensemble" in sections["combiner", "concat"].fields


@pytest.mark.parametrize("section", IN_0_11, ids=lambda section: f"{section.kind}-{section.name}")
def test_the_contract_has_every_section_of_ludwig_0_11(section: LudwigSection) -> None:
    assert (counterpart(section) is None) is ((section.kind, section.name) in WITHOUT_COUNTERPART)


def test_names_are_found_by_the_class_and_by_the_choice() -> None:
    assert "batch_ensemble" in fields_by_class()["ConcatCombiner"]
    assert "fallback_label" in fields_by_class()["CategoryOutputPreprocessing"]
    assert {"lora", "vera"} <= words_of_choice("adapter")
    assert words_of_choice("whatever") == frozenset()
