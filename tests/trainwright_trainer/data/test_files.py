"""The files that `dataset` names."""

from __future__ import annotations

import pytest

from trainwright_api.problems import Mistakes
from trainwright_api.resource.dataset_options import DatasetOptions
from trainwright_trainer.data.files import find


@pytest.fixture
def folder(tmp_path):
    for name in ("b.parquet", "a.parquet", "sub/c.parquet", ".hidden.parquet", "_SUCCESS", ".cache/x.parquet"):
        path = tmp_path / "data" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path / "data"


def test_a_folder_is_its_files_in_order(folder):
    found = find(str(folder))
    assert found.names == ("a.parquet", "b.parquet", "sub/c.parquet")
    assert (found.dataset, found.format, found.is_single) == ("data", "parquet", False)


def test_a_glob_is_its_matches_in_order(folder):
    assert find(str(folder / "*.parquet")).names == ("a.parquet", "b.parquet")
    assert find(str(folder / "**" / "*.parquet")).names == ("a.parquet", "b.parquet", "sub/c.parquet")
    assert find(str(folder.parent / "d*" / "b.parquet")).names == ("data/b.parquet",)


@pytest.mark.parametrize("asked", ["data", "data/**/*.parquet"])
def test_links_to_folders_are_followed_and_loops_are_not(folder, asked):
    (folder.parent / "other/deep").mkdir(parents=True)
    (folder.parent / "other/deep/x.parquet").touch()
    (folder / "link").symlink_to(folder.parent / "other")
    (folder / "twice").symlink_to(folder.parent / "other/deep")
    (folder / "loop").symlink_to(folder)
    (folder.parent / "other/back").symlink_to(folder)
    (folder / "broken").symlink_to(folder.parent / "nowhere")
    names = ("a.parquet", "b.parquet", "link/deep/x.parquet", "sub/c.parquet", "twice/x.parquet")
    assert find(str(folder.parent / asked)).names == names


def test_a_wildcard_matches_no_leading_underscore(tmp_path):
    for name in ("a.csv", "_b.csv", "_old/c.csv", "_old/_d.csv", "e/_f.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    assert find(f"{tmp_path}/**/*.csv").names == ("a.csv",)
    assert find(f"{tmp_path}/_*.csv").names == ("_b.csv",)
    assert find(f"{tmp_path}/**/_*.csv").names == ("_b.csv", "e/_f.csv")
    assert find(f"{tmp_path}/_o*/*.csv").names == ("_old/c.csv",)
    assert find(f"{tmp_path}/_old/*.csv").names == ("c.csv",)


@pytest.mark.parametrize(
    ("name", "word"),
    [("x.CSV", "csv"), ("x.csv.gz", "csv"), ("x.tsv.zip", "tsv"), ("x.y.json", "json"), ("x.feather", "feather")],
)
def test_a_file_is_known_by_its_ending(tmp_path, name, word):
    (tmp_path / name).touch()
    found = find(str(tmp_path / name))
    assert (found.names, found.format, found.is_single) == ((name,), word, True)
    assert [str(file) for file in found.each] == [str(tmp_path / name)]


def test_the_format_of_the_options_replaces_the_ending(tmp_path):
    (tmp_path / "x.data").write_text("a\n1\n")
    with pytest.raises(Mistakes, match=r"'x\.data' is of no format .* datasetOptions\.format names one\."):
        find(str(tmp_path / "x.data"))
    assert find(str(tmp_path / "x.data"), options=DatasetOptions(format="csv")).reader.name == "CSV"
    assert find(str(tmp_path), options=DatasetOptions(format="csv")).names == ("x.data",)


@pytest.mark.parametrize(("option", "value"), [("delimiter", ";"), ("encoding", "utf-16"), ("header", True)])
def test_options_of_csv_are_refused_elsewhere(folder, option, value):
    line = rf"datasetOptions\.{option}: acts with CSV and TSV only, the data set is Parquet"
    with pytest.raises(Mistakes, match=line):
        find(str(folder), options=DatasetOptions(**{option: value}))


def test_a_uri_of_this_machine_is_a_path(folder):
    assert find(f"file://{folder}").names == ("a.parquet", "b.parquet", "sub/c.parquet")


@pytest.mark.parametrize("scheme", ["hdfs", "oci"])
def test_another_store_is_not_built_yet(scheme):
    with pytest.raises(Mistakes, match=f"dataset: not built yet: {scheme}:// "):
        find(f"{scheme}://bucket/a.csv")


def test_signs_of_a_glob_in_a_files_name_do_no_harm(tmp_path):
    (tmp_path / "x[1].csv").touch()
    assert find(str(tmp_path / "x[1].csv")).names == ("x[1].csv",)


def test_signs_of_a_glob_in_a_folders_name_do_no_harm(tmp_path):
    for name in ("br[1]/x/a.csv", "br[1]/b.csv", "br1/c.csv", "br2/d.csv"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert find(f"{tmp_path}/br[1]/*.csv").names == ("b.csv",)
    assert find(f"{tmp_path}/br[1]/*/*.csv").names == ("x/a.csv",)
    assert find(f"{tmp_path}/br[2]/*.csv").names == ("br2/d.csv",)


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ("data/a.parqet", r"dataset: '.*a\.parqet' does not exist\. Nearest: 'a\.parquet'\."),
        ("nowhere/at/all.csv", r"dataset: '.*all\.csv' does not exist\."),
        ("data/*.csv", r"dataset: '.*\*\.csv' holds no file\."),
        ("notes.txt", r"dataset: 'notes\.txt' is of no format that this version reads \(\.parquet"),
        ("x.parquet.gz", r"dataset: 'x\.parquet\.gz' is of no format"),
        ("mixed", r"dataset: 'mixed' mixes formats: 'a\.csv' and 'b\.parquet'\."),
    ],
)
def test_what_is_not_there_is_reported(folder, asked, line):
    base = folder.parent
    (base / "notes.txt").touch()
    (base / "x.parquet.gz").touch()
    (base / "mixed").mkdir()
    (base / "mixed/a.csv").touch()
    (base / "mixed/b.parquet").touch()
    with pytest.raises(Mistakes, match=line):
        find(str(base / asked))


def test_a_list_keeps_its_order(folder, monkeypatch):
    found = find(f"{folder}/{{b,sub/c,a}}.parquet")
    assert (found.names, found.is_single) == (("b.parquet", "sub/c.parquet", "a.parquet"), False)
    assert [str(file) for file in found.each] == [f"{folder}/{name}" for name in found.names]
    assert find(f"{folder}/{{sub,*.parquet}}").names == ("sub/c.parquet", "a.parquet", "b.parquet")
    monkeypatch.chdir(folder.parent)
    found = find("{data/sub/c.parquet, data/a.parquet}")
    assert (found.names, str(found.home)) == (("sub/c.parquet", "a.parquet"), str(folder))


def test_braces_in_a_files_name_do_no_harm(tmp_path):
    (tmp_path / "x{a,b}.csv").touch()
    assert find(str(tmp_path / "x{a,b}.csv")).names == ("x{a,b}.csv",)
    (tmp_path / "y{a}.csv").touch()
    assert find(str(tmp_path / "y{a}.csv")).names == ("y{a}.csv",)


@pytest.mark.parametrize("asked", ["old/*.csv", "old", "{old,new}/*.csv"])
def test_a_name_that_is_no_text_is_one_line(tmp_path, asked):
    for name in ("new/a.csv", "old/b.csv", "old/caf\udce9.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x\n1\n")
    with pytest.raises(
        Mistakes, match=r"dataset: '.*' holds 'caf\\udce9\.csv', whose name is no text in UTF-8: rename"
    ):
        find(str(tmp_path / asked))


@pytest.mark.parametrize(
    ("asked", "line"),
    [
        ("{a,a}.parquet", r"'.*\{a,a\}\.parquet' names 'a\.parquet' twice\."),
        ("{a,c}.parquet", r"'.*/c\.parquet' does not exist\. Nearest: "),
        ("{a.parquet,x.csv}", r"'.*' mixes formats: 'a\.parquet' and 'x\.csv'\."),
    ],
)
def test_a_list_with_a_mistake(folder, asked, line):
    (folder / "x.csv").touch()
    with pytest.raises(Mistakes, match=f"dataset: {line}"):
        find(str(folder / asked))
