"""`trainwright init`: a file that validates and trains, and one line for what it cannot do."""

from __future__ import annotations

import random

import pandas as pd
import pytest
from ruamel.yaml import YAML

import trainwright
from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.tasks import auto_train
from trainwright_trainer.tasks.auto_train import variants


def messy(rows: int = 400) -> list[str]:
    """A file as a spreadsheet program writes it: semicolons, a column without a name, ids, gaps, a copy."""
    draws = random.Random(8)
    lines = [";Kunde;Alter;Plan;PLZ;Datum;Notiz;konst;weg;weg_flag"]
    for row in range(rows):
        age = draws.randrange(18, 80)
        left = draws.random() < (age - 18) / 62
        shown = draws.choice(["?", "NA", "unbekannt"]) if row % 40 == 0 else age
        note = " ".join(draws.choices(["gut", "schlecht", "sehr", "der", "Service"], k=draws.randrange(3, 9)))
        day = f"{draws.randrange(1, 28):02d}.{draws.randrange(1, 13):02d}.2024"
        cells = [
            row,
            f"C{row:05}",
            shown,
            draws.choice("ab"),
            f"0{row % 9}123",
            day,
            note,
            1,
            "ja" if left else "nein",
            int(left),
        ]
        lines.append(";".join(map(str, cells)))
    return lines


def test_a_messy_file_becomes_a_job_that_validates_and_trains(workplace):
    workplace.data(*messy(), name="messy.csv")
    out = workplace.done("init", "messy.csv", "--target", "weg", "--output", "new.yaml").out.splitlines()
    assert "messy.csv: read with delimiter ';', as its first rows show; datasetOptions sets another" in out
    assert "messy.csv: 400 rows · 5 inputs → weg (binary) · 4 columns left out: new.yaml" in out
    assert "  left out 'weg_flag': a copy of the target: each value of one goes with one value of the other" in out
    assert out[-1] == "next: trainwright train new.yaml"
    assert workplace.done("validate", "new.yaml").out.endswith("new.yaml: valid\n")
    workplace.done("train", "new.yaml", "--output", "out")
    assert (workplace.folder / "out/model/model.json").exists()


def test_options_of_the_files_are_those_of_the_job(workplace):
    """A file whose name has no known ending, and whose rows do not show the delimiter."""
    lines = [line.replace(";", "#") for line in messy()]
    workplace.data(*lines, name="messy.dat")
    options = "{format: csv, delimiter: '#', naValues: [weg]}"
    workplace.done("init", "messy.dat", "--target", "weg", "--dataset-options", options, "--output", "new.yaml")
    job = YAML(typ="safe").load(workplace.folder / "new.yaml")
    assert job["datasetOptions"] == {"format": "csv", "delimiter": "#", "naValues": ["weg", "unbekannt"]}
    given = {"format": "csv", "delimiter": "#", "naValues": ["weg"]}
    assert trainwright.init_config("messy.dat", "weg", dataset_options=given)["datasetOptions"] == job["datasetOptions"]
    workplace.done("train", "new.yaml", "--output", "out")


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ("{formt: csv}", "datasetOptions.formt: unknown: did you mean 'format'? "),
        ("{delimiter: ;;}", "datasetOptions.delimiter: expected at most 1 character, found the text ';;'"),
        ("format", "datasetOptions: expected keys and values, as in {format: …}, found the text 'format'"),
        ("{format: csv", "--dataset-options: line 1: a bracket that is never closed"),
    ],
)
def test_wrong_options_of_the_files_are_one_line(workplace, options, expected):
    assert expected in workplace.refused("init", "data.csv", "--target", "late", "--dataset-options", options)


def test_options_of_files_do_not_act_on_a_table():
    with pytest.raises(Mistakes, match="say how files are read, and the data are a table in memory"):
        trainwright.init_config(pd.DataFrame({"a": [1], "b": [2]}), "b", dataset_options={"format": "csv"})


def test_without_a_file_it_prints_the_job_alone(workplace):
    ended = workplace.run("init", "data.csv", "--target", "late")
    assert ended.code == 0
    assert ended.out.startswith("# Predict 'late' from data.csv (200 rows, 4 columns).")
    assert ended.err == "data.csv: 200 rows · 3 inputs → late (binary)\n"
    (workplace.folder / "job.yaml").write_text(ended.out)
    workplace.done("validate", "job.yaml")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (("data.csv", "--target", "latte"), "data.csv: --target: 'latte' is not in data.csv. Nearest: 'late'."),
        (("dta.csv", "--target", "late"), "dta.csv: dataset: 'dta.csv' does not exist. Nearest: 'data.csv'."),
        (("data.csv", "--target", "late", "--output", "job.yaml"),
         "data.csv: --output: 'job.yaml' exists: name another file, or give --overwrite"),
        (("data.csv", "--target", "late", "--output", "./data.csv", "--overwrite"),
         "data.csv: --output: data.csv is a file of the data set: name another file"),
    ],
)  # fmt: skip
def test_what_it_cannot_do_is_one_line(workplace, arguments, line):
    workplace.job()
    assert workplace.refused("init", *arguments) == line


def test_a_name_that_is_too_long_is_one_line(workplace):
    name = 300 * "a"
    line = workplace.refused("init", "data.csv", "--target", "late", "--output", name, code=3)
    assert line == f"{name} cannot be written: File name too long"


def test_a_file_is_replaced_on_request(workplace):
    workplace.data("old", name="job.yaml")
    workplace.done("init", "data.csv", "--target", "late", "--output", "job.yaml", "--overwrite")
    workplace.done("validate", "job.yaml")


@pytest.mark.usefixtures("workplace")
def test_python_suggests_the_same_job():
    by_number = trainwright.init_config(pd.DataFrame({0: [0.5 * row for row in range(40)], 1: [0, 1] * 20}), 1)
    assert by_number["config"]["output_features"][0]["name"] == "1"
    of_file = trainwright.init_config("data.csv", target="late")
    of_frame = trainwright.init_config(pd.read_csv("data.csv"), target="late")
    assert of_file == {"dataset": "data.csv", **of_frame}
    assert [one["type"] for one in of_frame["config"]["input_features"]] == ["number", "binary", "category"]


def test_the_search_keeps_the_best_trial(workplace):
    found = trainwright.auto_train("data.csv", "late", time_limit_s=600, output="search", quiet=True)
    assert [trial.name for trial in found.trials] == ["suggested", "small", "medium", "large"]
    assert found.best.loss == min(trial.loss for trial in found.trials)
    assert {path.name for path in (workplace.folder / "search").iterdir()} == {trial.name for trial in found.trials}
    assert "(best)" in found._repr_html_()


def test_the_trials_of_a_search_lie_in_a_store(workplace, bucket):
    found = trainwright.auto_train("data.csv", "late", time_limit_s=0.001, output=f"{bucket}/search", quiet=True)
    assert str(found.best.result.model) == f"{bucket}/search/suggested/model"
    assert storage_at(bucket).exists("search/suggested/model/model.json")
    assert not (workplace.folder / "s3:").exists()
    with pytest.raises(trainwright.Mistakes, match=f"{bucket}/search/suggested holds another run"):
        trainwright.auto_train("data.csv", "late", time_limit_s=0.001, output=f"{bucket}/search", quiet=True)


@pytest.mark.usefixtures("workplace")
def test_a_trial_that_fails_is_left_out_unless_it_is_the_first(monkeypatch, capsys):
    """As a model that does not fit the memory, after hours of other trials."""
    trained = auto_train.run

    def failing(name):
        def run(task, path, options, **more):
            if path.stem == name:
                raise EnvironmentFailure("not enough memory")
            return trained(task, path, options, **more)

        monkeypatch.setattr(auto_train, "run", run)

    failing("small")
    found = trainwright.auto_train("data.csv", "late", time_limit_s=600)
    assert [trial.name for trial in found.trials] == ["suggested", "medium", "large"]
    assert "small is left out, it failed: not enough memory" in capsys.readouterr().out
    failing("suggested")
    with pytest.raises(EnvironmentFailure, match="not enough memory"):
        trainwright.auto_train("data.csv", "late", time_limit_s=600, overwrite=True)


def test_a_search_replaces_runs_only_if_asked(workplace):
    workplace.done("train", workplace.job(), "--output", "search/small")
    before = workplace.files()
    with pytest.raises(trainwright.Mistakes) as refused:
        trainwright.auto_train("data.csv", "late", time_limit_s=600, output="search", quiet=True)
    assert str(refused.value) == (
        "search/small holds another run (job, 1 checkpoint, ended: done). "
        "Use overwrite=True to start anew, or another output."
    )
    assert workplace.files() == before
    found = trainwright.auto_train("data.csv", "late", time_limit_s=0.001, output="search", overwrite=True, quiet=True)
    assert [trial.name for trial in found.trials] == ["suggested"]


@pytest.mark.usefixtures("workplace")
def test_without_time_the_first_trial_trains_one_epoch(capsys):
    found = trainwright.auto_train("data.csv", "late", time_limit_s=0.001)
    assert [(trial.name, len(trial.result.history), trial.result.reason) for trial in found.trials] == [
        ("suggested", 1, "time limit")
    ]
    assert "small and larger trials are left out: the time is over" in capsys.readouterr().out
    with pytest.raises(trainwright.Mistakes, match="time_limit_s: expected seconds above 0, found 0"):
        trainwright.auto_train("data.csv", "late", time_limit_s=0)


def test_the_variants_differ_in_their_combiner():
    job = {"config": {"combiner": {"type": "concat"}, "x": 1}}
    found = dict(variants(job))
    assert list(found) == ["suggested", "small", "medium", "large"]
    assert found["large"]["config"] == {
        "combiner": {"type": "concat", "num_fc_layers": 2, "output_size": 256, "dropout": 0.3}, "x": 1
    }  # fmt: skip
