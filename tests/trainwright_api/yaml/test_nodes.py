"""Every trap that a YAML file can set, with the line that it draws."""

from __future__ import annotations

import json

import pytest

from trainwright_api.problems import Mistakes
from trainwright_api.yaml.nodes import MOST_LEVELS, read

VALUES = {
    "a small number is a number": ("a: 1e-4", 1e-4),
    "a capital exponent": ("a: 1E5", 1e5),
    "no is a word": ("a: no", "no"),
    "yes is a word": ("a: Yes", "Yes"),
    "true is a boolean": ("a: TRUE", True),
    "false is a boolean": ("a: false", False),
    "nothing is null": ("a:", None),
    "a tilde is null": ("a: ~", None),
    "a date stays a text": ("a: 2020-01-01", "2020-01-01"),
    "a time stays a text": ("a: 2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00"),
    "minutes stay a text": ("a: 12:30:45", "12:30:45"),
    "underscores make no number": ("a: 1_000", "1_000"),
    "a zero in front is no octal": ("a: 017", 17),
    "octal": ("a: 0o17", 15),
    "hexadecimal": ("a: 0x1F", 31),
    "quotes keep a text": ('a: "1"', "1"),
    "a tag makes a text": ("a: !!str 1", "1"),
    "a number with its tag": ("a: !!float 1.5", 1.5),
    "a literal block": ("a: |\n  x\n  y\n", "x\ny\n"),
    "an empty text": ("a: ''", ""),
    "a merged mapping": ("b: &b {x: 1, y: 2}\na:\n  <<: *b\n  y: 3", {"x": 1, "y": 3}),
    "a quoted key that does not merge": ("a: {'<<': 1, \"x\": 2}", {"<<": 1, "x": 2}),
    "two merged mappings": ("b: &b {x: 1}\nc: &c {x: 2, z: 3}\na: {<<: [*b, *c]}", {"x": 1, "z": 3}),
    "an alias": ("b: &b [1, 2]\na: *b", [1, 2]),
    "a directive changes nothing": ("%YAML 1.1\n---\na: no", "no"),
    "an end mark": ("---\na: 1\n...\n", 1),
    "an empty last document": ("a: 1\n---\n", 1),
    "tabs between the tokens of JSON": ('{\n\t"a":\t[1,\n\t\t2]\n}', [1, 2]),
    "letters beyond 16 bits, as JSON writes them": (json.dumps({"a": "😀"}), "😀"),
}

REFUSED = {
    "a tab": ("a:\n\tb: 1", "line 2: a tab: YAML indents with spaces"),
    "a key twice": ("a: 1\nb: 2\na: 3", "a: line 3: the key stands here twice; first in line 1"),
    "a key twice, deep": ("a:\n  - b: 1\n    b: 2", "a[0].b: line 3: the key stands here twice; first in line 2"),
    "a number as a key": ("a: {1: x}", "a: line 1: the key 1 is no text: put it in quotes"),
    "true as a key": ("true: x", "line 1: the key true is no text: put it in quotes"),
    "a list as a key": ("? [a]\n: x", "line 1: the key […] is no text: put it in quotes"),
    "NaN": ("a:\n  - .nan", "a[0]: line 2: .nan is no finite number"),
    "infinity": ("a: -.inf", "a: line 1: -.inf is no finite number"),
    "a number beyond all": ("a: 1e999", "a: line 1: 1e999 is too large for a number"),
    "an endless whole number": (f"a: {'9' * 5000}", f"a: line 1: {'9' * 24}… is too large: whole numbers have 64 bits"),
    "two documents": ("a: 1\n---\nb: 1", "line 3: a second document begins; a file holds one job"),
    "an open bracket": ("a: [1,", "line 1: a bracket that is never closed"),
    "an open quote": ('a: "x', "line 1: a quote that is never closed"),
    "two colons": (
        "a: b: c",
        "line 1: a ':' where no key can stand: is the line indented too far, or a quote missing?",
    ),
    "no colon": ("a: 1\nb", "line 2: a key without its ':'"),
    "a wrong indentation": (
        "a:\n    b: 1\n  c: 2",
        "line 3: this line does not fit the indentation of the lines above",
    ),
    "a reserved letter": ("a: @b", "line 1: not YAML: found character '@' that cannot start any token"),
    "an unknown tag": ("a: !foo 1", "a: line 1: the tag !foo means nothing here"),
    "a binary tag": ("a: !!binary aGk=", "a: line 1: the tag !!binary means nothing here"),
    "an alias of nothing": ("a: *b", "a: line 1: the alias *b has no anchor &b above it"),
    "an alias within itself": ("a: &b [*b]", "a[0]: line 1: the alias *b stands within its own anchor"),
    "a merged list": ("a: {<<: [1]}", "a.<<: line 1: expected keys and values to merge"),
    "half a character": (r'a: "\ud83d"', "a: line 1: half of a character: an escape \\ud8… without its second half"),
    "a control character": ("a: 1\nb: \x07", "line 2: a character that no text file holds (code 7)"),
    "too deep": ("[" * 500, f"line 1: nested more than {MOST_LEVELS} levels deep"),
}


@pytest.mark.parametrize(("text", "expected"), VALUES.values(), ids=VALUES.keys())
def test_a_value_is_read_by_the_rules_of_yaml_1_2(text: str, expected: object) -> None:
    found = read(text).data["a"]
    assert (found, type(found)) == (expected, type(expected))


@pytest.mark.parametrize(("text", "line"), REFUSED.values(), ids=REFUSED.keys())
def test_what_is_no_plain_data_draws_one_line(text: str, line: str) -> None:
    with pytest.raises(Mistakes) as caught:
        read(text)
    assert caught.value.render("job.yaml") == f"job.yaml: {line}"


def test_all_mistakes_of_a_file_are_found_at_once() -> None:
    with pytest.raises(Mistakes) as caught:
        read("a: .nan\nb: 1\nb: 2\n3: x")
    assert [problem.path for problem in caught.value.problems] == ["a", "b", ""]


def test_aliases_cannot_blow_a_file_up() -> None:
    lines = ["a0: &a0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 9)]
    with pytest.raises(Mistakes, match="more than 500,000 values, aliases counted"):
        read("\n".join(lines))


@pytest.mark.parametrize("word", ["y", "N", "yes", "No", "on", "OFF"])
def test_a_word_that_kubectl_reads_as_a_boolean_draws_one_notice(word: str) -> None:
    notices = read(f"a:\n  b: [1, {word}]").notices
    assert notices == [f"a.b[1] (line 2): {word} is a word here, but kubectl reads a boolean: put it in quotes"]


def test_in_quotes_such_a_word_draws_none() -> None:
    assert read("a: 'no'\nb: \"on\"\nc: |\n  yes\n").notices == []


@pytest.mark.parametrize("text", ["", "# nothing\n", "---\n"])
def test_an_empty_file_holds_nothing(text: str) -> None:
    assert read(text).data is None
