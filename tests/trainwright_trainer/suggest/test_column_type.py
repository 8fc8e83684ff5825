"""The type of a column, or the reason why it is left out."""

from __future__ import annotations

import datetime
import random
from datetime import timedelta

import pyarrow as pa
import pytest

from trainwright_trainer.data.datasets import DataFiles
from trainwright_trainer.data.files import find
from trainwright_trainer.suggest.column_type import input_choice, is_named_as_id, target_choice
from trainwright_trainer.suggest.describe import described
from trainwright_trainer.suggest.profile import profile_of

ROWS = 200
DRAWS = random.Random(2)
FLOATS = [round(DRAWS.gauss(0, 1), 4) for _ in range(ROWS)]
WORDS = ["good", "bad", "late", "soon", "red", "blue", "very", "not"]


def repeated(*values: object) -> list[object]:
    return [DRAWS.choice(values) for _ in range(ROWS)]


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        pytest.param(FLOATS, "number", id="floats"),
        pytest.param([str(one) for one in FLOATS], "number", id="numbers as text"),
        pytest.param([*map(str, FLOATS[:-5]), "?", "NA", "-", "", "unknown"], "number", id="with words"),
        pytest.param(["unknown" if row % 9 == 0 else str(row) for row in range(ROWS)], "number", id="with a word"),
        pytest.param([str(row) if row % 3 == 0 else "none given" for row in range(ROWS)], "number", id="words mostly"),
        pytest.param([str(row) if row % 3 == 0 else "ab"[row % 2] for row in range(ROWS)], "category", id="two words"),
        pytest.param(["unknown" if row % 9 == 0 else str(row % 4) for row in range(ROWS)], "category", id="classes"),
        pytest.param(repeated(1, 2, 3), "number", id="few whole numbers"),
        pytest.param(repeated("01234", "99999", "54321"), "category", id="post codes"),
        pytest.param(repeated(0, 1), "binary", id="two numbers"),
        pytest.param(repeated(True, False), "binary", id="booleans"),
        pytest.param([None, *repeated("yes", "no")[1:]], "category", id="two words and gaps"),
        pytest.param(repeated("yes", "no"), "binary", id="two words"),
        pytest.param(repeated("red", "green", "blue"), "category", id="words"),
        pytest.param(pa.array(repeated("red", "green")).dictionary_encode(), "binary", id="a dictionary"),
        pytest.param([f"2024-{row % 12 + 1:02d}-{row % 28 + 1:02d}" for row in range(ROWS)], "date", id="days"),
        pytest.param([datetime.date(2024, 1, row % 28 + 1) for row in range(ROWS)], "date", id="dates"),
        pytest.param([" ".join(DRAWS.choices(WORDS, k=8)) for _ in range(ROWS)], "text", id="sentences"),
        pytest.param([[1.0, 2.0, 3.0]] * ROWS, "vector", id="lists of one size"),
        pytest.param([f"{one} 1e-3 -{row}" for row, one in enumerate(FLOATS)], "vector", id="texts of numbers"),
        pytest.param([f"[{one}  {row}.]" for row, one in enumerate(FLOATS)], "vector", id="arrays of numpy"),
        pytest.param([str([one, row]) for row, one in enumerate(FLOATS)], "vector", id="lists as text"),
        pytest.param([f"{one};{row};2" for row, one in enumerate(FLOATS)], "vector", id="with semicolons"),
        pytest.param([f"{one} {row}" for row, one in enumerate(FLOATS)], None, id="two numbers without brackets"),
        pytest.param([str(list(range(row % 4))) for row in range(ROWS)], "category", id="of several sizes"),
        pytest.param([f"{one} 1 {'2x'[row == 9]}" for row, one in enumerate(FLOATS)], "text", id="with a word"),
        pytest.param([f"{row % 4} 0 1" for row in range(ROWS)], "category", id="few texts of numbers"),
        pytest.param([["a"], ["b", "c"]] * 100, "set", id="lists of texts"),
        pytest.param([[1.0], [2.0, 3.0]] * 100, None, id="lists of several sizes"),
        pytest.param([None] * ROWS, None, id="no value"),
        pytest.param([str(one).encode() for one in FLOATS], "number", id="numbers as bytes"),
        pytest.param([[b"a"], [b"b", b"c"]] * 100, "set", id="lists of bytes"),
        pytest.param([b"\xff%d" % row for row in range(ROWS)], None, id="bytes that are no text"),
        pytest.param(["?", "NA"] * 100, None, id="words for missing"),
        pytest.param(["+", "-"] * 100, "binary", id="signs"),
        pytest.param(["+", "-", "0", "0"] * 50, "category", id="signs and a number"),
        pytest.param(["", "z"] * 100, "binary", id="an empty text"),
        pytest.param([*["1.5", "2", "3.25", "4"] * 45, *["-"] * 20], "number", id="numbers and a sign"),
        pytest.param([*[f"{one:.2f}" for one in FLOATS[:-2]], "1,234.50", "5,678.90"], None, id="thousands"),
        pytest.param([timedelta(seconds=row) for row in range(ROWS)], None, id="durations"),
        pytest.param([[1.0, None], [2.0, 3.0]] * 100, None, id="lists with missing numbers"),
        pytest.param([1.5] * ROWS, None, id="one value"),
        pytest.param(range(1000, 1000 + ROWS), None, id="row numbers"),
        pytest.param([f"C{row}" for row in range(ROWS)], None, id="codes of rows"),
    ],
)  # fmt: skip
def test_the_type_of_an_input(column, values, wanted):
    assert input_choice(column(values)).type == wanted


@pytest.mark.parametrize("block", [ROWS, 30])
def test_an_id_with_several_rows_is_a_group(column, monkeypatch, block):
    monkeypatch.setattr("trainwright_trainer.data.rows.BLOCK_ROWS", block)
    found = input_choice(column([f"u{row % 50}" for row in range(ROWS)], "customer_id"))
    assert (found.type, found.is_group, found.reason) == (None, True, "an id with 4.0 rows each")
    assert input_choice(column([f"u{row % 50}" for row in range(ROWS)], "customer")).type == "category"
    shop = input_choice(column([row % 5 for row in range(ROWS)], "shop_id"))
    assert (shop.type, shop.reason) == ("category", "an id with 5 values")


@pytest.mark.parametrize(
    ("form", "reason"),
    [
        ("img/{}.png", "paths of images: type: image reads them"),
        (
            "\u4eca\u5929\u5929\u6c14\u5f88\u597d{}",
            "texts without spaces: type: text with preprocessing: {tokenizer: characters} reads them",
        ),
        ("C{}", "a different value in every row: an id"),
    ],
)
def test_texts_that_differ_in_every_row_are_left_out_with_what_reads_them(column, form, reason):
    found = input_choice(column([form.format(row) for row in range(ROWS)]))
    assert (found.type, found.reason) == (None, reason)


def test_spaces_around_words_make_other_values_as_in_training(column, profile):
    words = repeated("yes", "yes ", "no")
    found = column(words)
    assert input_choice(found).type == "category"
    assert described(found, input_choice(found)).endswith(", some of which differ only in the spaces around them")
    assert target_choice(profile({"x": range(ROWS)}, words).columns["y"]).type == "category"
    assert input_choice(column(repeated("yes ", "no "))).type == "binary"


@pytest.mark.parametrize("form", ["{:,.2f}", "${:.2f}", "{:.1f} €", "{:.2f}%", "{:.1f}"])
def test_numbers_with_signs_are_left_out_with_a_hint(column, form):
    texts = [form.format(1000 + 10 * abs(one)) for one in FLOATS]
    if form == "{:.1f}":  # decimal commas that the file does not show
        texts = [text.replace(".", ",") for text in texts]
    found = input_choice(column(texts))
    assert (found.type, found.reason.partition(" (")[0]) == (None, "numbers with signs or separators")
    assert max(texts, key=len)[:3] in found.reason
    assert target_choice(column(texts)).reason == f"it has {found.reason}"
    assert input_choice(column(repeated("5%", "10%", "20%"))).type == "category"


def test_points_beside_decimal_commas_separate_thousands(tmp_path):
    """Training reads them so, and would refuse the column."""
    path = tmp_path / "d.csv"
    lines = (f"{row},5;{1 + row % 9}.{row:03d};{'ab'[row % 2]}" for row in range(ROWS))
    path.write_text("\n".join(["half;far;y", *lines]))
    columns = profile_of(DataFiles(find(str(path))), "y").columns
    assert input_choice(columns["half"]).type == "number"
    assert input_choice(columns["far"]).reason.startswith("numbers with signs or separators ('1.000')")


def test_signs_beside_plain_numbers_are_seen(column):
    found = input_choice(column([f"{10 * row:,}" for row in range(ROWS)]))  # below 1,000 they have no separator
    assert found.reason == "numbers with signs or separators ('1,000'): write them without, as in 1234.5"


def test_many_words_between_numbers_are_named(column):
    texts = [f"w{row % 7}" if row % 4 == 0 else f"{row}.5" for row in range(ROWS)]
    found = input_choice(column(texts))
    many = "numbers, and 'w0', 'w4', 'w1', 'w5', 'w2', … in 25 % of the rows"
    assert (found.type, found.reason) == (None, f"{many}: datasetOptions.naValues makes such words missing")


def test_the_reason_is_one_line(column):
    assert input_choice(column([1] * ROWS)).reason == "one value"
    assert input_choice(column(range(ROWS))).reason == "a different value in every row: an id"
    assert input_choice(column(FLOATS, " ")).reason == "no name"
    no_text = "bytes that are no text; if they are images, type: image reads them"
    assert input_choice(column([b"\xff%d" % row for row in range(ROWS)])).reason == no_text
    assert target_choice(column([b"\xff", b"\xfe"] * 100)).reason == f"it holds {no_text}"


@pytest.mark.parametrize(
    ("values", "wanted"),
    [
        (repeated("a", "b", "c"), "category"),
        (repeated(1, 2, 3, 4, 5), "category"),
        (list(range(ROWS)), "number"),
        (FLOATS, "number"),
        (repeated(0, 1), "binary"),
        (repeated(True, False), "binary"),
        ([None, *repeated("yes", "no")[1:]], "binary"),
        ([[1.0, 2.0]] * ROWS, "vector"),
        ([["a"], ["b", "c"]] * 100, "set"),
        ([1] * ROWS, None),
        ([None] * ROWS, None),
        ([f"C{row}" for row in range(2_000)], None),
        ([f"C{row}" for row in range(ROWS)], None),
        (["a", "b", "c"], None),
        ([f"C{row // 2}" for row in range(ROWS)], "category"),
        (list(range(9)), "number"),
    ],
)
def test_the_type_of_a_target(profile, values, wanted):
    assert target_choice(profile({"x": range(len(values))}, values).columns["y"]).type == wanted


@pytest.mark.parametrize("name", ["id", "ID", "customer_id", "userId", "order-key", "Row ID", "uuid"])
def test_names_of_ids(name):
    assert is_named_as_id(name)


@pytest.mark.parametrize("name", ["paid", "monkey", "covid", "idea", "AID", "width"])
def test_names_of_other_columns(name):
    assert not is_named_as_id(name)
