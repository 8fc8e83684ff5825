"""Predict and evaluate on a real Ray give what one process gives, to the last bit where threads are equal."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.backends.ray.resources import Pool
from trainwright_trainer.job.job import read_job
from trainwright_trainer.job.options import Options
from trainwright_trainer.tasks.blocks import Blocks, BlocksHere
from trainwright_trainer.tasks.blocks_on_ray import BlocksOnRay, parts_of
from trainwright_trainer.tasks.of_a_model import OF_A_MODEL

on_a_cluster = pytest.mark.usefixtures("ray_here")
POOL = Pool(2, 2, False, {"CPU": 1.0}, 3)


@pytest.fixture
def trained(workplace, monkeypatch):
    """A model in `out`, and data of 200 rows in 25 blocks and 5 row groups."""
    workplace.done("train", workplace.job(), "--output", "out")
    table = pyarrow.csv.read_csv("data.csv")
    pq.write_table(table.append_column("id", pa.array(range(len(table)))), "data.parquet", row_group_size=48)
    monkeypatch.setattr("trainwright_trainer.data.rows.BLOCK_ROWS", 8)
    return workplace


def on_both(task: str, dataset: str, **options: Any) -> list[str]:
    """The lines of a task, which are those of both places. Its files are in the folders `local` and `ray`."""
    found = []
    for place in ("local", "ray"):
        job = read_job(
            task, Path("job.yaml"), Options(model="out", dataset=dataset, output=f"{place}/", threads=1, **options)
        )
        blocks: Blocks = BlocksHere() if place == "local" else BlocksOnRay(job, POOL)
        lines: list[str] = []
        OF_A_MODEL[task](job, lambda *more, lines=lines: lines.extend(more), blocks)
        found.append([line.replace("ray/", "local/") for line in lines])
    assert found[1] == found[0]
    return found[0]


@on_a_cluster
@pytest.mark.usefixtures("trained")
@pytest.mark.parametrize("dataset", ["data.parquet", pytest.param("data.csv", marks=pytest.mark.slow)])
def test_predictions_are_the_same_file(dataset):
    keep = "id" if dataset == "data.parquet" else "kind"
    on_both("predict", dataset, keep=(keep,))
    here, there = (Path(place, "predictions.parquet").read_bytes() for place in ("local", "ray"))
    assert here == there
    if keep == "id":
        assert pq.read_table("ray/predictions.parquet")["id"].to_pylist() == list(range(200))


@on_a_cluster
@pytest.mark.usefixtures("trained")
@pytest.mark.parametrize("dataset", ["data.parquet", pytest.param("data.csv", marks=pytest.mark.slow)])
def test_scores_are_the_same_file(dataset):
    """Of all rows of new data, and of the test rows of the training data."""
    on_both("evaluate", dataset)
    here, there = (json.loads(Path(place, "evaluation.json").read_text()) for place in ("local", "ray"))
    assert here == there
    assert here["part"] == ("given" if dataset == "data.parquet" else "test")
    assert Path("ray/evaluation.html").exists()


@on_a_cluster
@pytest.mark.usefixtures("trained")
def test_cells_are_counted_over_all_parts():
    rows = {"size": ["?", "1"] * 20, "open": ["yes"] * 40, "kind": ["z", "a"] * 20}
    pq.write_table(pa.table(rows), "new.parquet")
    lines = on_both("predict", "new.parquet")
    assert "missing cells: 20 (size 20) · categories that the model does not know: 20 (kind 20)" in lines[0]


@pytest.mark.slow
@on_a_cluster
@pytest.mark.usefixtures("trained")
def test_the_mistakes_of_all_parts_are_one_message():
    columns = {"size": ["1"] * 40 + ["x"] * 20, "open": ["yes"] * 60, "kind": ["a"] * 60}
    pq.write_table(pa.table(columns), "new.parquet")
    messages = []
    for place in (BlocksHere(), None):
        job = read_job("predict", Path("job.yaml"), Options(model="out", dataset="new.parquet", output="p.parquet"))
        with pytest.raises(Mistakes) as caught:
            OF_A_MODEL["predict"](job, print, place or BlocksOnRay(job, POOL))
        messages.append(str(caught.value))
    assert messages[1] == messages[0]
    assert "row 41" in messages[0]
    assert not Path("p.parquet").exists()


@pytest.mark.slow
@on_a_cluster
def test_gaps_that_neighbours_fill_are_filled_across_blocks(workplace, monkeypatch):
    fill = {"preprocessing": {"missing_value_strategy": "ffill"}}
    workplace.job(lambda job: job["config"]["input_features"][0].update(fill))
    workplace.done("train", "job.yaml", "--output", "out")
    monkeypatch.setattr("trainwright_trainer.data.rows.BLOCK_ROWS", 8)
    sizes = [0.5 if row == 3 else None for row in range(40)]
    pq.write_table(pa.table({"size": sizes, "open": ["yes"] * 40, "kind": ["a"] * 40}), "new.parquet")
    on_both("predict", "new.parquet")
    here, there = (pq.read_table(f"{place}/predictions.parquet") for place in ("local", "ray"))
    assert here.equals(there)
    assert len(set(here["late_probability"].to_pylist()[3:])) == 1


@on_a_cluster
def test_the_command_runs_on_the_cluster_that_its_process_has_joined(trained):
    out = trained.done("predict", "job.yaml", "--model", "out", "--backend", "ray", "--output", "p.parquet").out
    assert out.splitlines()[-1] == "data.csv: 200 rows predicted: p.parquet"
    line = trained.refused("predict", "job.yaml", "--model", "out", "--backend", "ray", "--keep", "kinds")
    assert line == "job.yaml: --keep: 'kinds' is not in data.csv. Nearest: 'kind'."


@pytest.mark.parametrize(
    ("blocks", "actors", "sizes"),
    [
        (0, 2, []),
        (1, 2, [1]),
        (25, 2, [4, 4, 4, 4, 4, 4, 1]),
        (100, 2, [13] * 7 + [9]),
        (1_000, 2, [16] * 62 + [8]),
    ],
)
def test_parts_are_as_many_as_actors_need_and_no_larger_than_a_row_group(blocks, actors, sizes):
    found = parts_of(blocks, actors)
    assert [len(part) for part in found] == sizes
    assert [number for part in found for number in part] == list(range(blocks))
