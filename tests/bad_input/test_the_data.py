"""Data that cannot be learnt from: the config path, the column, the row, and what helps."""

from __future__ import annotations

import gzip

import pyarrow.csv
import pyarrow.parquet
import pytest


def with_column(lines, name, value):
    """The lines of a CSV file with one more column; `value(row)` counts rows from 1."""
    return [f"{lines[0]},{name}", *(f"{line},{value(row)}" for row, line in enumerate(lines[1:], 1))]


@pytest.fixture
def lines(workplace):
    return (workplace.folder / "data.csv").read_text().splitlines()


@pytest.fixture
def refused(workplace):
    """The message of `train` for the job with its target replaced."""

    def train(**target):
        change = (lambda job: job["config"].update(output_features=[target])) if target else None
        return workplace.refused("train", workplace.job(change), "--output", "out")

    return train


def test_a_column_that_is_not_there(workplace):
    job = workplace.job(lambda job: job["config"]["input_features"][0].update(column="sise"))
    message = workplace.refused("train", job, "--output", "out")
    assert message == "job.yaml: config.input_features[0].column: 'sise' is not in data.csv. Nearest: 'size'."
    assert not (workplace.folder / ".trainwright_cache").exists()


def test_several_columns_that_are_not_there(workplace):
    def change(job):
        job["config"]["input_features"][2]["name"] = "kinds"
        job["config"]["output_features"][0]["name"] = "zebra"

    assert workplace.refused("train", workplace.job(change)).splitlines() == [
        "job.yaml: 2 mistakes",
        "  config.input_features[2].column   'kinds' is not in data.csv. Nearest: 'kind'.",
        "  config.output_features[0].column  'zebra' is not in data.csv.",
    ]


def test_the_split_column_is_not_there(workplace):
    split = {"split": {"type": "hash", "column": "kin"}}
    message = workplace.refused("train", workplace.job(lambda job: job["config"].update(preprocessing=split)))
    assert message == "job.yaml: config.preprocessing.split.column: 'kin' is not in data.csv. Nearest: 'kind'."


def test_text_in_a_number_column(workplace, lines, refused):
    workplace.data(*lines[:17], "big,yes,a,no", *lines[17:])
    assert refused() == (
        "job.yaml: config.input_features[0]: column 'size' is text from row 17 on ('big'), the feature is a number. "
        "If the text stands for a missing value, add it to datasetOptions.naValues; "
        "else use type category, or missing_value_strategy drop_row. (Row 1 is the first row of data.)"
    )


def test_text_in_a_number_column_with_drop_row(workplace, lines):
    workplace.data(*lines[:17], "big,yes,a,no", *lines[17:])
    drop = {"preprocessing": {"missing_value_strategy": "drop_row"}}
    job = workplace.job(lambda job: job["config"]["input_features"][0].update(drop))
    out = workplace.done("train", job, "--output", "out").out
    assert "data.csv: column 'size': values that are no number: 1; they count as missing\n" in out
    assert "data.csv: column 'size': rows left out by drop_row: 1\n" in out


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("category", "column 't' has one value ('x') in the training rows; a target needs two or more."),
        ("binary", "column 't' has one value ('x') in the training rows; a target needs two."),
        ("number", "column 't' has no number in any training row."),
    ],
)
def test_a_target_with_one_value(workplace, lines, refused, kind, line):
    workplace.data(*with_column(lines, "t", lambda _: "x"))
    assert refused(name="t", type=kind) == f"job.yaml: config.output_features[0]: {line}"


def test_a_binary_with_three_values(workplace, lines, refused):
    assert refused(name="t", column="kind", type="binary").startswith(
        "job.yaml: config.output_features[0].column: a target that is also an input"
    )
    workplace.data(*with_column(lines, "t", lambda row: "xyz"[row % 3]))
    assert refused(name="t", type="binary") == (
        "job.yaml: config.output_features[0]: column 't' has 3 values ('z', 'y', 'x'), the feature is binary. "
        "Use type category."
    )


@pytest.mark.parametrize("kind", ["category", "binary"])
def test_a_target_without_a_value(workplace, lines, refused, kind):
    workplace.data(*with_column(lines, "t", lambda _: ""))
    assert refused(name="t", type=kind) == (
        "job.yaml: config.output_features[0]: column 't' has no value in any training row."
    )


def test_a_target_with_gaps_is_reported_and_trained(workplace, lines):
    workplace.data(*(f"{line.rsplit(',', 1)[0]}," if row % 10 == 0 else line for row, line in enumerate(lines, 1)))
    out = workplace.done("train", workplace.job(), "--output", "out").out
    assert out.startswith("data.csv: column 'late': rows left out by drop_row: 20\n")
    assert "job: 200 rows · " in out


@pytest.mark.parametrize(
    ("content", "line"),
    [
        ("size,open,kind,late\n", "dataset: 'data.csv' holds no rows."),
        ("", "dataset: 'data.csv' is empty."),
        ("\n\n", "dataset: 'data.csv' "),
    ],
)
def test_an_empty_data_set(workplace, refused, content, line):
    (workplace.folder / "data.csv").write_text(content)
    assert refused().startswith(f"job.yaml: {line}")


MORE = "Give more rows or other split.probabilities."


def test_a_split_that_leaves_parts_empty(workplace, lines, refused):
    workplace.data(*lines[:4])
    assert refused().splitlines() == [
        "job.yaml: 2 mistakes",
        f"  config.preprocessing.split  the validation part is empty: none of the 3 rows is in it. {MORE}",
        f"  config.preprocessing.split  the test part is empty: none of the 3 rows is in it. {MORE}",
    ]


def test_a_sample_that_leaves_parts_empty(workplace):
    """Reported before any column is read, whether the cache knows the rows or not."""
    workplace.done("preprocess", workplace.job())
    sample = workplace.job(lambda job: job["config"].update(preprocessing={"sample_size": 3}))
    line = f"  config.preprocessing.split  the validation part is empty: none of the 3 rows is in it. {MORE}"
    assert line in workplace.refused("train", sample).splitlines()
    workplace.data(*(workplace.folder / "data.csv").read_text().splitlines()[:-1])
    assert line in workplace.refused("train", sample).splitlines()


def fixed(workplace, lines, parts):
    workplace.data(*with_column(lines, "part", lambda row: parts[row % len(parts)]))
    split = {"split": {"type": "fixed", "column": "part"}}
    return workplace.job(lambda job: job["config"].update(preprocessing=split))


def test_a_fixed_split_without_rows_to_train_on(workplace, lines):
    message = workplace.refused("train", fixed(workplace, lines, [1, 2]))
    assert message == "job.yaml: config.preprocessing.split: the train part is empty: none of the 200 rows is in it."


@pytest.mark.parametrize(
    ("parts", "counts"),
    [
        ([0, 1], "100 train / 100 validation / 0 test"),
        ([0, 2], "100 train / 0 validation / 100 test"),
        ([0], "200 train / 0 validation / 0 test"),
    ],
)
def test_a_fixed_split_needs_no_other_part(workplace, lines, parts, counts):
    out = workplace.done("train", fixed(workplace, lines, parts)).out
    assert counts in out
    assert (" · test " in out) is (2 in parts)


def test_a_fixed_split_with_another_word(workplace, lines):
    workplace.data(*with_column(lines, "part", lambda row: "holdout" if row == 9 else row % 3))
    split = {"split": {"type": "fixed", "column": "part"}}
    message = workplace.refused("train", workplace.job(lambda job: job["config"].update(preprocessing=split)))
    assert message == (
        "job.yaml: config.preprocessing.split.column: column 'part' holds 'holdout' in row 9; a part is 0, 1, 2 or "
        "train, validation, test. (Row 1 is the first row of data.)"
    )


@pytest.mark.parametrize(
    ("kept", "line"),
    [
        (slice(0, -100), "is truncated or damaged: its footer cannot be read."),
        (slice(0, 5), "is truncated or damaged: its footer cannot be read."),
        (slice(0, 0), "is no Parquet file."),
    ],
)
def test_a_truncated_parquet_file(workplace, kept, line):
    path = workplace.folder / "data.parquet"
    pyarrow.parquet.write_table(pyarrow.csv.read_csv("data.csv"), path)
    path.write_bytes(path.read_bytes()[kept])
    message = workplace.refused("train", workplace.job(), "--dataset", "data.parquet", "--output", "out")
    assert message == f"job.yaml: dataset: 'data.parquet' {line}"


def test_a_damaged_parquet_file(workplace):
    path = workplace.folder / "data.parquet"
    pyarrow.parquet.write_table(pyarrow.csv.read_csv("data.csv"), path)
    content = path.read_bytes()
    path.write_bytes(content[:200] + bytes(400) + content[600:])
    message = workplace.refused("train", workplace.job(), "--dataset", "data.parquet", "--output", "out")
    assert message == "job.yaml: dataset: 'data.parquet' is damaged: its pages cannot be read."


def test_a_truncated_archive(workplace):
    content = gzip.compress((workplace.folder / "data.csv").read_bytes())
    (workplace.folder / "data.csv.gz").write_bytes(content[:-300])
    message = workplace.refused("train", workplace.job(), "--dataset", "data.csv.gz", "--output", "out")
    assert message == "job.yaml: dataset: 'data.csv.gz' is no readable gz archive: truncated or damaged."


@pytest.mark.parametrize(
    ("dataset", "line"),
    [
        ("dat.csv", "'dat.csv' does not exist. Nearest: 'data.csv'."),
        ("nowhere/data.csv", "'nowhere/data.csv' does not exist."),
        ("part-*.csv", "'part-*.csv' holds no file."),
        ("job.yaml", "'job.yaml' is of no format that this version reads (.parquet, .pq, .feather"),
    ],
)
def test_a_data_set_that_is_not_there(workplace, dataset, line):
    message = workplace.refused("train", "--dataset", dataset, workplace.job(), "--output", "out")
    assert message.startswith(f"job.yaml: dataset: {line}")
    assert not (workplace.folder / ".trainwright_cache").exists()


def test_as_a_process(workplace, lines):
    workplace.data(*lines[:17], "big,yes,a,no", *lines[17:])
    job, before = workplace.job(), workplace.files()
    ended = workplace.program("train", job, "--output", "out")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.startswith("job.yaml: config.input_features[0]: column 'size' is text from row 17 on ('big')")
    assert workplace.files() == before
    assert not list(workplace.folder.rglob(".*.tmp"))
