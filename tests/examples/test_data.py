"""The programs beside the examples: they make the data that they say they make, and the demo goes to its end."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from PIL import Image
from ruamel.yaml import YAML

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
# Known only after a flight has left.
AFTERWARDS = {"dep_time", "dep_delay", "arr_time", "arr_delay", "air_time"}
MODELS = {"trainwright", "logistic regression", "gradient boosting"}


@pytest.fixture
def compared(project: Path, run_python: Callable[..., str]) -> Callable[[str, Path], list[str]]:
    """Trains an example to out/NAME-baseline. Returns the lines of its baseline program, one for each model."""

    def lines_of(name: str, dataset: Path) -> list[str]:
        run = project / "out" / f"{name}-baseline"
        run_python("-m", "trainwright_trainer", "train", f"examples/{name}/{name}.yaml", "--output", str(run))
        printed = run_python(f"examples/{name}/baseline.py", "--dataset", str(dataset), "--run", str(run))
        return printed.splitlines()[1:]

    return lines_of


def test_flights_holds_nothing_that_is_known_only_afterwards(flights: Path) -> None:
    names = set(pq.read_schema(flights).names)
    assert "late" in names
    assert not names & AFTERWARDS


def test_flights_keeps_the_flights_that_never_arrived(flights: Path) -> None:
    late = pq.read_table(flights, columns=["late"])["late"]
    assert len(late) == 3_000
    assert 0 < late.null_count < 0.05 * len(late)


def test_flights_spreads_few_rows_over_the_whole_year(flights: Path) -> None:
    months = pq.read_table(flights, columns=["month"])["month"]
    assert len(months.unique()) == 12


def test_every_column_of_flights_is_an_input_the_target_or_the_split(flights: Path) -> None:
    config = YAML(typ="safe").load(EXAMPLES / "flights" / "flights.yaml")["spec"]["config"]
    features = {feature["name"] for feature in config["input_features"] + config["output_features"]}
    assert set(pq.read_schema(flights).names) == {*features, config["preprocessing"]["split"]["column"]}


def test_small_data_are_what_their_program_writes(project: Path, run_python: Callable[..., str]) -> None:
    run_python("examples/small/make_data.py")
    written = (project / "examples" / "small" / "weather.csv").read_bytes()
    assert written == (EXAMPLES / "small" / "weather.csv").read_bytes()


def test_small_flights_are_some_of_the_flights(tmp_path: Path, run_python: Callable[..., str]) -> None:
    """Nearly to the last digits: those of a sine may differ between machines."""
    run_python("examples/flights/make_data.py", "--rows", "2000", "--output", str(tmp_path / "flights.csv"))
    written, kept = (pd.read_csv(folder / "flights.csv") for folder in (tmp_path, EXAMPLES / "small"))
    pd.testing.assert_frame_equal(written, kept)


@pytest.mark.usefixtures("flights")
def test_demo_prints_three_scores_and_where_things_lie(run_python: Callable[..., str]) -> None:
    printed = run_python("examples/flights/demo.py")
    closing = printed.split("test ROC-AUC")[1].splitlines()
    scores = {name: float(line.split()[-1]) for line in closing for name in MODELS if name in line}
    assert set(scores) == MODELS
    assert all(0.5 < score < 1 for score in scores.values())
    assert "out/flights/report.html" in printed


def test_no_docstring_names_a_library(docstrings: Path) -> None:
    rows = pd.read_parquet(docstrings)
    assert set(rows["library"]) == {"aiohttp", "boto3", "numpy", "pandas", "pyarrow", "ray", "sklearn", "torch"}
    assert not rows["docstring"].str.contains("numpy|pandas|arrow|sklearn|torch|boto|aiohttp", case=False).any()
    assert not rows.duplicated(["docstring", "library"]).any()


def test_docstrings_are_compared_with_a_linear_model(
    docstrings: Path, compared: Callable[[str, Path], list[str]]
) -> None:
    lines = compared("docstrings", docstrings)
    scores = [float(line.split()[-1]) for line in lines]
    assert len(scores) == 2
    assert min(scores) > 1.5 / 8  # better than a guess, with few texts


def test_digits_are_compared_with_two_models_and_a_folder_is_predicted(
    digits: Path, project: Path, run_python: Callable[..., str], compared: Callable[[str, Path], list[str]]
) -> None:
    job, run = "examples/images/images.yaml", project / "out" / "images-baseline"
    lines = compared("images", digits)
    scores = [float(line.split()[-1]) for line in lines]
    assert len(scores) == 3
    assert min(scores) > 0.7
    file, folder = project / "out" / "digits.parquet", digits.parent / "digits"
    run_python(
        "-m",
        "trainwright_trainer",
        "predict",
        job,
        "--model",
        str(run),
        "--dataset",
        str(folder),
        "--output",
        str(file),
    )
    found, rows = pd.read_parquet(file), pd.read_csv(digits)
    assert found["path"].tolist() == [Path(path).name for path in rows["path"]]
    assert (found["digit_predictions"] == rows["digit"]).mean() > 0.8


def test_functions_are_compared_with_linear_models(
    docstrings: Path, compared: Callable[[str, Path], list[str]]
) -> None:
    lines = compared("functions", docstrings)
    scores = [[float(score) for score in line.split()[-2:]] for line in lines]
    assert len(scores) == 2
    assert all(library > 1.5 / 8 and 0.3 < statements < 1 for library, statements in scores)


def test_words_of_code_are_compared_with_two_models(lines: Path, compared: Callable[[str, Path], list[str]]) -> None:
    scores = [float(line.split()[-1]) for line in compared("tagger", lines)]
    assert len(scores) == 3
    assert min(scores) > 0.4
    assert max(scores) < 1


def test_each_word_of_a_line_has_a_role_and_no_mark(lines: Path) -> None:
    rows = pd.read_parquet(lines)
    words, roles = rows["words"].str.split(), rows["roles"].str.split()
    assert (words.str.len() == roles.str.len()).all()
    assert set(roles.explode()) == {"keyword", "definition", "call", "attribute", "target", "name"}
    assert words.explode().map(str.isidentifier).all()
    assert not rows["words"].duplicated().any()


def test_a_picture_of_code_has_no_letters_and_no_docstring(docstrings: Path) -> None:
    rows = pd.read_parquet(docstrings)
    assert {len(set(names)) - len(names) for names in rows["statements"]} == {0}
    for code, lines in zip(rows["code"], rows["lines"], strict=True):
        pixels = np.asarray(Image.open(io.BytesIO(code)))
        assert set(np.unique(pixels)) <= {0, 128, 255}
        assert (pixels[lines:] == 255).all()
