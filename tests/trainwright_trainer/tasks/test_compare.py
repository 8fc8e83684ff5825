"""The command compare, on runs that were trained."""

from __future__ import annotations

import json

import pytest

from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.tasks.compare import records

FAST = {"report": {"maxSeconds": 0}}


@pytest.fixture
def runs(workplace):
    """Two runs in `out`, with other epochs."""
    for name, epochs in (("short", 1), ("long", 2)):
        config = {"trainer": {"epochs": epochs, "batch_size": 32}}
        job = workplace.job(lambda job, config=config: (job.update(FAST), job["config"].update(config)), f"{name}.yaml")
        workplace.done("train", job)
    return workplace


def score(runs, name):
    end = json.loads((runs.folder / f"out/{name}/metrics.json").read_text())["end"]
    return f"{end['test']['late']['roc_auc']:.4f}"


def test_one_table_and_one_page(runs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "60")
    out = runs.done("compare", "out/short", "out/long").out.splitlines()
    assert out[0].split() == ["run", "short", "long"]
    assert out[1].split() == ["state", "done", "done"]
    line = next(line for line in out if line.startswith("test late.roc_auc"))
    assert [text.rstrip("*") for text in line.split()[2:]] == [score(runs, "short"), score(runs, "long")]
    assert next(line for line in out if "trainer.epochs" in line).split()[1:] == ["1", "2"]
    assert out[-1] == "page compare.html"
    page = (runs.folder / "compare.html").read_text()
    assert "late.roc_auc by epoch" in page
    assert "config.trainer.epochs" in page


def test_a_wide_terminal_has_a_line_for_each_run(runs, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    out = runs.done("compare", "out/short", "out/long").out.splitlines()
    assert out[0].endswith("test late.roc_auc")
    assert [line.split()[0] for line in out[1:3]] == ["short", "long"]
    assert out[2].split()[-1].rstrip("*") == score(runs, "long")


def test_json_has_one_object_a_run(runs):
    out = runs.done("compare", "out/short", "out/long", "--json", "--output", "there/page.html").out
    short, long = map(json.loads, out.splitlines())
    end = json.loads((runs.folder / "out/long/metrics.json").read_text())["end"]
    assert (short["run"], long["run"]) == ("short", "long")
    assert (long["test"], long["best_epoch"]) == (end["test"], end["best_epoch"])
    assert (short["settings"]["config.trainer.epochs"], long["settings"]["config.trainer.epochs"]) == ("1", "2")
    assert (runs.folder / "there/page.html").is_file()


def test_each_place_without_a_run_is_a_line(runs):
    (runs.folder / "empty").mkdir()
    line = runs.refused("compare", "out/short", "empty", "gone")
    assert line.startswith("RUN: 'empty' holds no run: name the folder")
    assert "RUN: 'gone' holds no run" in line


def test_a_model_and_a_search_are_named_as_such(runs):
    (runs.folder / "search").mkdir()
    (runs.folder / "search/hyperopt.json").write_text("{}")
    line = runs.refused("compare", "out/short/model", "search/")
    assert "RUN: 'out/short/model' holds a model: name the folder of the run that has trained it" in line
    assert "RUN: 'search/' holds a search: name runs of its trials, as search/trials/0001" in line


def test_runs_of_one_name_have_other_labels(runs):
    (runs.folder / "copy").mkdir()
    for name in ("metrics.json", "resolved.json"):
        (runs.folder / "copy" / name).write_bytes((runs.folder / "out/short" / name).read_bytes())
    assert [one.label for one in records(["out/short", "copy"])] == ["short", "copy"]
    assert records(["copy"])[0].state == "not ended"


def test_another_run_to_start_from_is_a_setting(runs):
    job = runs.job(lambda job: job.update(FAST, resumeFrom="out/short"), "tuned.yaml")
    runs.done("train", job)
    out = runs.done("compare", "out/short", "out/tuned").out
    line = next(line for line in out.splitlines() if line.startswith("resumeFrom"))
    assert line.split()[1] == "–"
    assert "out/short/model" in line


def test_the_test_rows_are_counted(runs):
    lines = (runs.folder / "data.csv").read_text().splitlines()
    few = [line.rpartition(",")[0] + "," if place % 5 == 0 else line for place, line in enumerate(lines)]
    runs.data(lines[0], *few[1:])
    for name, strategy in (("all", "fill_with_mode"), ("some", "drop_row")):
        fill = {"missing_value_strategy": strategy}
        job = runs.job(
            lambda job, fill=fill: (job.update(FAST), job["config"]["output_features"][0].update(preprocessing=fill)),
            f"{name}.yaml",
        )
        runs.done("train", job)
    every, some = (one.test_rows or 0 for one in records(["out/all", "out/some"]))
    assert 0 < some < every
    assert (
        f"the test rows are not the same ({every} and {some} rows)" in runs.done("compare", "out/all", "out/some").out
    )


def test_a_run_in_a_store(runs, bucket):
    storage = storage_at(f"{bucket}/runs/short")
    for path in (runs.folder / "out/short").rglob("*.json"):
        storage.write_file(str(path.relative_to(runs.folder / "out/short")), path)
    there, here = records([f"{bucket}/runs/short", "out/short"])
    assert there.place.startswith("s3://")
    assert (there.test, there.state, there.resolved) == (here.test, "done", here.resolved)
    runs.done("compare", f"{bucket}/runs/short", "out/long", "--output", f"{bucket}/page.html")
    assert storage_at(bucket).read("page.html").startswith(b"<!doctype html>")
