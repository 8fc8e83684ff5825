from __future__ import annotations

from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trainwright_trainer.report.markup import Markup, element, join, number


def test_text_is_escaped_and_markup_is_not() -> None:
    made = element("p", "<b> & ", element("b", "x"), class_="a\"'<")
    assert made == '<p class="a&quot;&#x27;&lt;">&lt;b&gt; &amp; <b>x</b></p>'
    assert isinstance(made, Markup)


def test_names_of_attributes() -> None:
    assert element("text", x=1.0, y=2.505, fill_opacity=0.5, class_="t", id=None) == (
        '<text x="1" y="2.5" fill-opacity="0.5" class="t"></text>'
    )


def test_void_elements_have_no_end() -> None:
    assert element("br") == "<br>"


def test_none_is_nothing() -> None:
    assert join("a", None, "b") == "ab"


def test_control_characters_are_replaced() -> None:
    assert element("p", "a\x00\x1b\ud800b\nc") == "<p>a\ufffd\ufffd\ufffdb\nc</p>"


@pytest.mark.parametrize(("value", "text"), [(12, "12"), (12.0, "12"), (3.14159, "3.14"), (-0.5, "-0.5"), (0.001, "0")])
def test_numbers_are_short(value: float, text: str) -> None:
    assert number(value) == text


@given(st.text(st.characters(exclude_categories=["C", "Z"])))
def test_text_comes_back_as_it_was(text: str) -> None:
    made = element("p", text)
    assert unescape(made.removeprefix("<p>").removesuffix("</p>")) == text
    assert made.count("<") == 2
