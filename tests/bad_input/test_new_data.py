"""Data that a trained model cannot read."""

from __future__ import annotations

import pytest


@pytest.fixture
def trained(workplace):
    """A finished run in `out`."""
    workplace.done("train", workplace.job(), "--output", "out")
    return workplace


@pytest.mark.parametrize("command", ["predict", "evaluate"])
@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (
            ("size,opn,kind,late", "1,yes,a,no"),
            "config.input_features[1].column: 'open' is not in new.csv. Nearest: 'opn'.",
        ),
        (
            ("size,open,kind,late", "1,yes,a,no", "big,no,b,yes"),
            "config.input_features[0]: column 'size' is text from row 2 on ('big'), the feature is a number. ",
        ),
        (("size,open,kind,late",), "dataset: 'new.csv' holds no rows."),
    ],
)
def test_a_column_that_is_missing_or_of_another_type(trained, command, lines, message):
    trained.data(*lines, name="new.csv")
    found = trained.refused(command, "job.yaml", "--model", "out", "--dataset", "new.csv", "--output", "p")
    assert found.startswith(f"job.yaml: {message}")


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_name_that_is_too_long(trained, command):
    name = 300 * "a"
    found = trained.refused(command, "--model", "out", "--dataset", name, "--output", "p")
    assert found == f"out: dataset: '{name}' cannot be read (File name too long)."


def test_a_target_is_needed_to_evaluate_and_not_to_predict(trained):
    arguments = ("job.yaml", "--model", "out", "--dataset", trained.data("size,open,kind", "1,yes,a", name="new.csv"))
    assert trained.refused("evaluate", *arguments, "--output", "p") == (
        "job.yaml: config.output_features[0].column: 'late' is not in new.csv."
    )
    assert trained.done("predict", *arguments, "--output", "p.csv").out == "new.csv: 1 row predicted: p.csv\n"


def test_nothing_to_judge_by(trained):
    trained.data("size,open,kind,late", "1,yes,a,", name="new.csv")
    assert trained.refused("evaluate", "job.yaml", "--model", "out", "--dataset", "new.csv", "--output", "p") == (
        "job.yaml: dataset: no row of 'new.csv' can judge the model: "
        "each lacks a target, or an input that drops the row."
    )


def test_a_label_that_training_had_not(trained):
    trained.data("size,open,kind", "1,maybe,zebra", name="new.csv")
    out = trained.done("predict", "--model", "out", "--dataset", "new.csv", "--output", "p.csv").out
    assert out.splitlines()[0] == "new.csv: column 'open': values that are no binary: 1; they count as missing"


def test_a_place_that_cannot_be_written(trained):
    message = trained.refused("predict", "job.yaml", "--model", "out", "--output", "data.csv/p.csv", code=3)
    assert message.startswith("data.csv/p.csv")


def test_rows_that_no_row_around_fills(workplace):
    fill = {"preprocessing": {"missing_value_strategy": "ffill"}}
    job = workplace.job(lambda job: job["config"]["input_features"][0].update(fill))
    workplace.done("train", job, "--output", "out")
    workplace.data("size,open,kind", ",yes,a", ",no,b", name="new.csv")
    out = workplace.done("predict", "--model", "out", "--dataset", "new.csv", "--output", "p.csv").out
    assert "new.csv: column 'size': rows left out because no row around has a value: 2\n" in out
