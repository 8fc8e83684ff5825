"""Data sets and caches in a bucket: the same rules for files as on a disk, and the same columns, bit for bit."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from collections import defaultdict
from datetime import timedelta
from pathlib import Path
from threading import Timer

import pyarrow as pa
import pyarrow.feather
import pytest
from pyarrow import fs

from trainwright_api.problems import Mistakes
from trainwright_trainer.data import source
from trainwright_trainer.data.cache import Cache
from trainwright_trainer.data.columnfile import Column
from trainwright_trainer.data.content import content_of, hashes_now
from trainwright_trainer.data.datasets import DataFiles
from trainwright_trainer.data.encoded import EncodedColumn
from trainwright_trainer.data.files import find
from trainwright_trainer.data.new_data import NewData
from trainwright_trainer.data.preprocess import prepare
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.location import S3Uri
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.storage.s3client.credentials import from_environment
from trainwright_trainer.storage.s3client.job_credentials import JobCredentials


@pytest.fixture
def store(bucket):
    return storage_at(bucket)


@pytest.fixture
def mirrored(tmp_path, store, bucket):
    """Copies files of the temporary folder into the bucket, under the same names."""

    def put(*names):
        for name in names:
            store.write_file(name, tmp_path / name)
        return bucket

    return put


def columns_of(data):
    return {name: pa.chunked_array(column).combine_chunks() for name, column in data.columns.items()}


@pytest.fixture
def folder(store, bucket):
    """An S3 "folder" with names that the rules include and exclude."""
    for name in ("b.csv", "a.csv", "sub/c.csv", ".hidden.csv", "_SUCCESS", ".cache/x.csv", "sub/.d.csv"):
        store.write(f"data/{name}", [b"x\n1\n"])
    store.write("data/", [b""])
    store.write("data2/e.csv", [b"x\n1\n"])
    return f"{bucket}/data"


@pytest.mark.parametrize(
    ("word", "names"),
    [
        ("", ("a.csv", "b.csv", "sub/c.csv")),
        ("/", ("a.csv", "b.csv", "sub/c.csv")),
        ("/*.csv", ("a.csv", "b.csv")),
        ("/**/*.csv", ("a.csv", "b.csv", "sub/c.csv")),
        ("/[bc].csv", ("b.csv",)),
        ("*/?.csv", ("data/a.csv", "data/b.csv", "data2/e.csv")),
    ],
)
def test_the_words_mean_what_they_mean_on_a_disk(folder, tmp_path, word, names):
    found = find(folder + word)
    assert found.names == names
    here = tmp_path / "data"
    for name in ("a.csv", "b.csv", "sub/c.csv", ".hidden.csv", "../data2/e.csv", "sub/.d.csv"):
        (here / name).parent.mkdir(parents=True, exist_ok=True)
        (here / name).touch()
    assert find(f"{here}{word}").names == names
    assert (found.is_single, found.format) == (False, "csv")


def test_one_object(folder):
    found = find(f"{folder}/a.csv")
    assert (found.dataset, found.names, found.is_single) == ("a.csv", ("a.csv",), True)
    assert str(found.home) == folder


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("/a.cvs", r"dataset: 's3://.*/data/a\.cvs' does not exist\. Nearest: 'a\.csv'\."),
        ("/gone/a.csv", r"dataset: 's3://.*/a\.csv' does not exist\."),
        ("/*.parquet", r"dataset: 's3://.*/data/\*\.parquet' holds no file\."),
        ("/_SUCCESS", r"dataset: '_SUCCESS' is of no format that this version reads"),
    ],
)
def test_what_is_not_there_is_reported(folder, word, line):
    with pytest.raises(Mistakes, match=line):
        find(folder + word)


def test_columns_are_the_same_to_the_bit_and_the_cache_knows_them_again(
    parquet, columns, usual, mirrored, monkeypatch, tmp_path
):
    here = parquet(columns, row_group_size=64)
    bucket = mirrored("data.parquet")
    local = prepare(usual(), here, seed=0)
    far = prepare(usual(), f"{bucket}/data.parquet", seed=0)
    assert far.finish() == local.finish() == ()
    assert columns_of(far) == columns_of(local)
    assert (far.statistics, far.content, far.cache_key, far.cache_hit) == (
        local.statistics,
        local.content,
        local.cache_key,
        False,
    )
    assert not list(tmp_path.glob("s3*"))

    def nothing(*_):
        pytest.fail("something is done again although the cache has it all")

    with monkeypatch.context() as patched:
        patched.setattr(source, "blocks", nothing)
        again = prepare(usual(), f"{bucket}/data.parquet", seed=0)
    assert again.cache_hit
    assert columns_of(again) == columns_of(local)
    copy = here.replace("data.parquet", "copy.parquet")
    Path(here).rename(copy)
    monkeypatch.setattr(EncodedColumn, "add", nothing)
    assert prepare(usual(), copy, seed=0, cache_dir=f"{bucket}/.trainwright_cache").cache_key == local.cache_key


def test_data_in_google_cloud_storage_are_the_same_to_the_bit(parquet, columns, usual, google_bucket, tmp_path):
    here, store = parquet(columns, row_group_size=64), storage_at(google_bucket)
    store.write_file("data/data.parquet", tmp_path / "data.parquet")
    local = prepare(usual(), here, seed=0)
    for place in (f"{google_bucket}/data/data.parquet", f"{google_bucket}/data/*.parquet"):
        far = prepare(usual(), place, seed=0)
        assert (far.finish(), columns_of(far)) == ((), columns_of(local))
        assert prepare(usual(), place, seed=0).cache_hit
    with pytest.raises(Mistakes, match=r"dataset: 'gs://.*/dat\.parquet' does not exist\. Nearest: 'data\.parquet'\."):
        find(f"{google_bucket}/data/dat.parquet")
    store.write("data/cut.parquet", [(tmp_path / "data.parquet").read_bytes()[:-100]])
    with pytest.raises(Mistakes, match=r"dataset: 'cut\.parquet' is truncated or damaged"):
        prepare(usual(), f"{google_bucket}/data/cut.parquet", seed=0)


def test_a_google_store_that_fails_while_it_is_read(parquet, columns, google_bucket, google_store, tmp_path):
    parquet(columns)
    storage_at(google_bucket).write_file("data.parquet", tmp_path / "data.parquet")
    files = find(f"{google_bucket}/data.parquet")
    files.storage._arrow = fs.GcsFileSystem(
        anonymous=True, scheme="http", endpoint_override=google_store.address, retry_time_limit=timedelta(seconds=1)
    )
    google_store.kill()
    try:
        with pytest.raises(EnvironmentFailure) as caught:
            source.check(files, [("x", "n")])
    finally:
        google_store.start()
    assert str(caught.value).startswith(f"dataset: '{google_bucket}/data.parquet' cannot be read (")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["x.csv", "x.csv.gz", "x.tsv", "x.jsonl", "x.feather", "x.csv.zip"])
def test_every_format_is_read_as_on_a_disk(tmp_path, config, mirrored, name):
    rows = [(number % 7, f"class {number % 3}", number % 2) for number in range(300)]
    table = pa.table({key: [row[place] for row in rows] for place, key in enumerate("ncy")})
    path = tmp_path / name
    if name == "x.feather":
        pyarrow.feather.write_feather(table, path)
    elif name == "x.jsonl":
        path.write_text("".join(f'{{"n": {n}, "c": "{c}", "y": {y}}}\n' for n, c, y in rows))
    else:
        mark = "\t" if "tsv" in name else ","
        text = "\n".join(mark.join(map(str, row)) for row in [("n", "c", "y"), *rows]).encode()
        path.write_bytes(gzip.compress(text) if name.endswith("gz") else text)
    if name.endswith("zip"):
        import zipfile

        content = path.read_bytes()
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("inside.csv", content)
    wanted = config(["n:number", "c:category"], ["y:binary"])
    local = prepare(wanted, str(path), seed=0)
    far = prepare(wanted, f"{mirrored(name)}/{name}", seed=0)
    assert columns_of(far) == columns_of(local)
    files = find(str(path))
    assert far.content == local.content == content_of(files, hashes_now(files))


def test_many_parts_under_a_prefix(parquet, columns, usual, mirrored):
    table = pa.table(columns)
    for number in range(4):
        parquet(table.slice(number * 50, 50).to_pydict(), name=f"parts/part-{number}.parquet")
    here = parquet({}, name="other.parquet").replace("other.parquet", "parts")
    bucket = mirrored(*(f"parts/part-{number}.parquet" for number in range(4)))
    local, far = (prepare(usual(), place, seed=0) for place in (here, f"{bucket}/parts"))
    assert columns_of(far) == columns_of(local)
    assert far.content == local.content
    assert far.finish() == ()
    assert Cache(storage_at(f"{bucket}/.trainwright_cache")).has_column("features", _any_feature(bucket))


def _any_feature(bucket):
    return storage_at(f"{bucket}/.trainwright_cache/features").list()[0].removesuffix(".parquet")


def test_new_data_for_a_model(parquet, columns, usual, mirrored):
    here = parquet(columns)
    data = prepare(usual(), here, seed=0)
    there = f"{mirrored('data.parquet')}/data.parquet"
    near, far = (NewData(DataFiles(find(path)), usual(), data.statistics, targets=True) for path in (here, there))
    pairs = zip(near.blocks(), far.blocks(), strict=True)
    assert all(columns_of(one.data) == columns_of(other.data) for one, other in pairs)


def test_an_object_that_changes_is_read_again(parquet, columns, usual, mirrored):
    parquet(columns)
    bucket = mirrored("data.parquet")
    first = prepare(usual(), f"{bucket}/data.parquet", seed=0)
    first.finish()
    parquet({**columns, "n": [1.0] * 200})
    mirrored("data.parquet")
    second = prepare(usual(), f"{bucket}/data.parquet", seed=0)
    assert second.content != first.content
    assert not second.cache_hit


def test_a_file_that_was_laid_under_a_gateway_is_known_by_its_time(bucket, object_store):
    there = object_store.folder / "buckets" / S3Uri.parse(bucket, "dataset").bucket / "data.csv"
    there.write_text("n\n1\n")
    os.utime(there, (10**9, 10**9))
    found = find(f"{bucket}/data.csv")
    assert found.look() == found.look()
    before = found.look()
    os.utime(there, (10**9 + 1, 10**9 + 1))
    assert found.look() != before


def test_an_object_that_changes_while_it_is_read(parquet, columns, usual, mirrored, monkeypatch):
    parquet(columns)
    bucket = mirrored("data.parquet")
    blocks = source.blocks

    def meddling(*given):
        yield from blocks(*given)
        parquet({**columns, "n": [1.0] * 200})
        mirrored("data.parquet")

    monkeypatch.setattr(source, "blocks", meddling)
    with pytest.raises(Mistakes, match=r"'data\.parquet' changed while it was read"):
        prepare(usual(), f"{bucket}/data.parquet", seed=0)


@pytest.mark.parametrize("cut", [0, 3, 100, -8])
def test_a_damaged_object_is_the_users_mistake(parquet, columns, usual, mirrored, store, cut):
    path = Path(parquet(columns))
    bucket = mirrored("data.parquet")
    store.write("data.parquet", [path.read_bytes()[:cut]])
    with pytest.raises(Mistakes, match=r"dataset: 'data\.parquet' is (no Parquet file|truncated or damaged)"):
        prepare(usual(), f"{bucket}/data.parquet", seed=0)


def test_a_cache_entry_is_whole_or_it_is_none(store, bucket):
    cache = Cache(storage_at(f"{bucket}/cache"))
    cache.make()
    column = Column(pa.chunked_array([pa.array([1.0, 2.0], pa.float32())]), ("a notice",))
    assert cache.read_json("statistics", "k") is None
    assert cache.read_column("features", "k") is None
    assert not cache.has_column("features", "k")
    cache.write_json("statistics", "k", {"a": [1, "ü"]})
    cache.write_column("features", "k", column)
    assert cache.finish() == ()
    other = Cache(storage_at(f"{bucket}/cache"))
    assert other.read_json("statistics", "k") == {"a": [1, "ü"]}
    assert other.read_column("features", "k").values.to_pylist() == [1.0, 2.0]
    assert store.list("cache/") == ["features/", "statistics/"]
    store.write("cache/statistics/k.json", [b'{"digest": "x", "entry": {"a": 2}}'])
    store.write("cache/features/k.parquet", [store.read("cache/features/k.parquet")[:50]])
    assert other.read_json("statistics", "k") is None
    assert other.read_column("features", "k") is None
    assert [line.rpartition("/")[2] for line in other.take_notices()] == [
        "k.json' is damaged; it is made again",
        "k.parquet' is damaged; it is made again",
    ]


def test_a_column_that_breaks_off_leaves_nothing(store, bucket):
    def half(file):
        file.write(b"PAR1 and then the process")
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        storage_at(f"{bucket}/cache").write_by("features/k.parquet", half)
    assert store.list() == []


def test_a_cache_without_a_bucket_names_the_option(parquet, columns, usual, bucket):
    with pytest.raises(EnvironmentFailure) as caught:
        prepare(usual(), parquet(columns), seed=0, cache_dir=f"{bucket}-2/cache")
    assert "-2/cache/" in str(caught.value)
    assert "there is no such bucket" in str(caught.value)


def test_the_cache_may_have_keys_of_its_own(parquet, columns, usual, mirrored, bucket, monkeypatch):
    parquet(columns)
    mirrored("data.parquet")
    own = from_environment()
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "canary")
    here = parquet(columns)
    data = prepare(usual(), here, seed=0, cache_dir=f"{bucket}/cache", keys=JobCredentials(cache=own))
    assert data.finish() == ()
    with pytest.raises(EnvironmentFailure, match="the secret does not fit the access key") as caught:
        prepare(usual(), f"{bucket}/data.parquet", seed=0, cache_dir=f"{bucket}/cache", keys=JobCredentials(cache=own))
    assert "canary" not in str(caught.value)
    far = prepare(usual(), f"{bucket}/data.parquet", seed=0, keys=JobCredentials(datasets=own))
    assert far.finish() == ()
    assert columns_of(far) == columns_of(data)


def test_a_region_that_nobody_names_is_the_buckets(parquet, columns, mirrored, bucket, monkeypatch):
    parquet(columns)
    mirrored("data.parquet")
    monkeypatch.delenv("AWS_REGION")
    monkeypatch.delenv("AWS_DEFAULT_REGION", raising=False)
    assert find(f"{bucket}/data.parquet").each[0].native().read(4) == b"PAR1"


def test_the_program_ends_although_arrow_has_read_from_a_store(parquet, columns, mirrored, bucket):
    parquet(columns)
    mirrored("data.parquet")
    code = (
        "from trainwright_trainer.data.files import find\n"
        f"file = find('{bucket}/data.parquet').each[0]\n"
        "print(file.native().size(), file.open().read(4))"
    )
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, env={**os.environ})
    assert (ended.returncode, ended.stderr, ended.stdout.split()[1]) == (0, "", "b'PAR1'")


def test_a_store_that_is_away_for_a_moment_only_delays_a_reader(parquet, columns, mirrored, bucket, object_store):
    """The test runs in real time, because Arrow uses its own clock."""
    parquet(columns)
    mirrored("data.parquet")
    file = find(f"{bucket}/data.parquet").each[0]
    with file.native() as opened:
        object_store.kill()
        back = Timer(1.0, object_store.start)
        back.start()
        assert opened.read(4) == b"PAR1"
        back.join()


def test_a_store_that_fails_while_it_is_read_is_not_the_users_mistake(
    parquet, columns, usual, mirrored, bucket, object_store, monkeypatch
):
    monkeypatch.setattr("trainwright_trainer.storage.s3._TRIES", 1)
    parquet(columns)
    mirrored("data.parquet")
    check = source.check

    def losing(*given):
        check(*given)
        object_store.kill()

    monkeypatch.setattr(source, "check", losing)
    try:
        with pytest.raises(EnvironmentFailure) as caught:
            list(NewData(DataFiles(find(f"{bucket}/data.parquet")), usual(), defaultdict(dict), targets=True).blocks())
    finally:
        object_store.start()
    assert str(caught.value).startswith(f"dataset: '{bucket}/data.parquet' cannot be read (NETWORK_CONNECTION")
    assert "\n" not in str(caught.value)


def test_a_list_of_objects(folder):
    found = find(f"{folder}/{{sub,b.csv}}")
    assert (found.names, str(found.home)) == (("sub/c.csv", "b.csv"), folder)
