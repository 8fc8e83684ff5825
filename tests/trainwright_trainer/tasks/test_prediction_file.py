"""Predictions are written block by block, and appear when they are complete."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.data.files import find
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.location import place_of
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.storage.s3client.job_credentials import NO_KEYS
from trainwright_trainer.tasks.prediction_file import refuse_own_data, writing

ONE, TWO = pa.table({"x": [1, 2], "y": ["a", None]}), pa.table({"x": [3], "y": ["b"]})


def _write(path, *tables):
    with writing(path, NO_KEYS) as write:
        for table in tables:
            write(table)


@pytest.mark.parametrize(("name", "read"), [("p.parquet", pq.read_table), ("p.csv", pyarrow.csv.read_csv)])
def test_the_file_holds_all_blocks_and_nothing_lies_beside_it(tmp_path, name, read):
    path = tmp_path / "new" / name
    with writing(path, NO_KEYS) as write:
        write(ONE)
        assert not path.exists()
        write(TWO)
    assert read(path)["x"].to_pylist() == [1, 2, 3]
    assert [one.name for one in path.parent.iterdir()] == [name]


def test_a_label_with_white_space_stays_one_item_of_csv(tmp_path):
    _write(tmp_path / "p.csv", pa.table({"x": [["a", "b"], ["New York", "b"], []]}))
    assert pyarrow.csv.read_csv(tmp_path / "p.csv")["x"].to_pylist() == ["a b", '"New York" b', ""]


@pytest.mark.parametrize("name", ["p.parquet", "p.csv"])
def test_an_error_leaves_the_old_file(tmp_path, name):
    path = tmp_path / name
    path.write_text("old")
    with pytest.raises(AttributeError):
        _write(path, ONE, None)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.fixture
def small_files():
    """No file of this process may be larger than 32 KiB."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 15, limits[1]))
    yield
    resource.setrlimit(resource.RLIMIT_FSIZE, limits)


@pytest.mark.usefixtures("small_files")
@pytest.mark.parametrize("name", ["p.parquet", "p.csv"])
def test_a_file_that_does_not_fit_is_one_line_and_leaves_nothing(tmp_path, name):
    with pytest.raises(EnvironmentFailure, match=f"{name} cannot be written: .*File too large"):
        _write(tmp_path / name, pa.table({"x": np.random.default_rng(1).permutation(40_000)}))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("ending", [".parquet", ".csv"])
def test_a_name_that_is_too_long_is_one_line(tmp_path, ending):
    with pytest.raises(EnvironmentFailure, match=r"a\..* cannot be written: .*File name too long"):
        _write(tmp_path / f"{300 * 'a'}{ending}", ONE)


def test_a_column_whose_type_changes_gets_the_wider_one(tmp_path):
    blocks = [
        pa.table({"x": pa.nulls(2), "n": [1, 2]}),
        pa.table({"x": ["a"], "n": [0.5]}),
        pa.table({"x": pa.array([None], pa.string()), "n": [3]}),
    ]
    with writing(tmp_path / "p.parquet", NO_KEYS) as write:
        for block in blocks:
            write(block)
    assert pq.read_table(tmp_path / "p.parquet").to_pydict() == {"x": [None, None, "a", None], "n": [1, 2, 0.5, 3]}


def test_types_that_no_column_holds_are_a_mistake(tmp_path):
    line = "--keep: the kept columns cannot be written as parquet"
    with pytest.raises(Mistakes, match=line):
        _write(tmp_path / "p.parquet", pa.table({"x": ["a"]}), pa.table({"x": [1]}))
    assert list(tmp_path.iterdir()) == []


def test_a_list_in_csv_is_text(tmp_path):
    with writing(tmp_path / "p.csv", NO_KEYS) as write:
        write(pa.table({"v": [[1.0, 2.5], None], "s": [["a", "b"], []]}))
    assert (tmp_path / "p.csv").read_text().splitlines()[1] == '"1.0 2.5","a b"'


def test_a_folder_that_refuses_is_the_machines_fault(tmp_path):
    (tmp_path / "file").write_text("")
    with (
        pytest.raises(EnvironmentFailure, match="cannot be written"),
        writing(tmp_path / "file/p.csv", NO_KEYS) as write,
    ):
        write(ONE)


def test_no_row_is_no_file(tmp_path):
    with writing(tmp_path / "p.parquet", NO_KEYS):
        pass
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    "output", ["fold/a.csv", "./fold/../fold/a.csv", "link/a.csv", "fold/b.parquet", "fold/in/b.csv"]
)
def test_the_data_set_is_not_written_to(tmp_path, monkeypatch, output):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fold").mkdir()
    (tmp_path / "fold/a.csv").write_text("x\n1\n")
    (tmp_path / "link").symlink_to("fold")
    with pytest.raises(Mistakes, match=r"^--output: .* (is a file|lies in the folder) of the data set: name "):
        refuse_own_data(Path(output), find("fold"), "fold")


@pytest.mark.parametrize(
    ("dataset", "output"), [("fold/a.csv", "fold/b.csv"), ("fold/a*.csv", "fold/b.csv"), ("fold", "b")]
)
def test_a_place_beside_the_data_set_is_free(tmp_path, monkeypatch, dataset, output):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "fold").mkdir()
    (tmp_path / "fold/a.csv").write_text("x\n1\n")
    refuse_own_data(Path(output), find(dataset), dataset)


def test_an_object_of_the_data_set_is_not_written_to(bucket):
    storage_at(f"{bucket}/fold", NO_KEYS.artifacts).write("a.csv", [b"x\n1\n"])
    with pytest.raises(Mistakes, match="is a file of the data set"):
        refuse_own_data(place_of(f"{bucket}/fold/a.csv", ""), find(f"{bucket}/fold/a.csv"), f"{bucket}/fold/a.csv")
    with pytest.raises(Mistakes, match="lies in the folder of the data set"):
        refuse_own_data(place_of(f"{bucket}/fold/b.csv", ""), find(f"{bucket}/fold/"), f"{bucket}/fold/")
