"""The suggested job: features with their encoders, the split, the sizes; and its text."""

from __future__ import annotations

import json
import math
import random

import pyarrow as pa
import pytest

from trainwright_api.checks import load
from trainwright_api.problems import Mistakes
from trainwright_trainer.suggest import pretrained, sizes
from trainwright_trainer.suggest.job_text import job_text
from trainwright_trainer.suggest.suggestion import suggestion_of

ROWS = 300
DRAWS = random.Random(4)
WORDS = ["good", "bad", "late", "soon", "red", "blue", "very", "not"]
TABLE = {
    "size": [DRAWS.gauss(0, 1) for _ in range(ROWS)],
    "kind": [DRAWS.choice(["no", "y: x", "null", "Ä #1"]) for _ in range(ROWS)],
    "day": [f"2024-{DRAWS.randrange(1, 13):02d}-{DRAWS.randrange(1, 28):02d}" for _ in range(ROWS)],
    "id": list(range(ROWS)),
}


def features(found) -> dict[str, dict]:
    return {line.value["name"]: line.value for line in found.inputs}


def test_each_type_has_its_encoder(profile):
    many = {**TABLE, "city": [f"city {row % 40}" for row in range(ROWS)], "gaps": [None, *TABLE["size"][:-1]]}
    found = features(suggestion_of(profile(many)))
    assert found["kind"]["encoder"] == {"type": "onehot"}
    assert found["city"]["encoder"] == {"type": "dense", "embedding_size": 13}
    assert found["size"] == {"name": "size", "type": "number"}
    assert found["gaps"]["preprocessing"] == {"missing_value_strategy": "fill_with_mean"}


@pytest.mark.parametrize("as_text", [False, True])
def test_a_few_infinite_numbers_are_dropped(profile, as_text):
    values = [math.inf if row == 7 else -math.inf if row == 9 else size for row, size in enumerate(TABLE["size"])]
    found = suggestion_of(profile({"n": list(map(str, values)) if as_text else values, "kind": TABLE["kind"]}))
    assert features(found)["n"]["preprocessing"] == {"missing_value_strategy": "drop_row"}
    assert found.inputs[0].comment.endswith(" · infinite in 2 rows: drop_row leaves them out")
    target = suggestion_of(profile({"kind": TABLE["kind"]}, values)).output
    assert target.value == {"name": "y", "type": "number"}
    assert target.comment.endswith(" · infinite in 2 rows: drop_row leaves them out")


@pytest.mark.parametrize("others", [[math.inf] * 30, [math.inf, *[None] * 29]])
def test_many_infinite_numbers_are_no_input(profile, others):
    found = suggestion_of(profile({"n": [*others, *TABLE["size"][30:]], "kind": TABLE["kind"]}))
    share = "10 %" if others[1] else "0.33 %"
    assert found.left_out == [("n", f"numbers, infinite in {share} of the rows: let these have none")]


@pytest.mark.parametrize(("step", "added"), [(100.0, {"preprocessing": {"normalization": "zscore"}}), (1e5, {})])
def test_a_target_that_is_large_beside_its_range_is_normalised(profile, step, added):
    found = suggestion_of(profile(TABLE, [1.7e9 + step * (row % 91) for row in range(ROWS)]))
    assert found.output.value == {"name": "y", "type": "number", **added}


def test_words_between_numbers_count_as_missing(profile):
    values = ["unknown" if row % 50 == 0 else str(row % 37) for row in range(ROWS)]
    found = suggestion_of(profile({"n": values, "kind": TABLE["kind"]}))
    assert found.job("d.csv")["datasetOptions"] == {"naValues": ["unknown"]}
    assert "'unknown' counts as missing (6 rows)" in found.inputs[0].comment


def test_words_between_dates_count_as_missing_wherever_they_are(profile):
    days = [*TABLE["day"] * 4, "soon"]
    found = suggestion_of(profile({"day": [*days[:2], "later", *days[3:]], "kind": [*TABLE["kind"] * 4, "no"]}))
    assert found.job("d.csv")["datasetOptions"] == {"naValues": ["later", "soon"]}
    assert found.inputs[0].comment == "dates · 'later', 'soon' count as missing (2 rows)"


def test_many_words_between_dates_are_named(profile):
    days = [f"w{row}" if row % 50 == 3 else day for row, day in enumerate(TABLE["day"])]
    found = suggestion_of(profile({"day": days, "kind": TABLE["kind"]}))
    words = "'w3', 'w53', 'w103', 'w153', 'w203', …"
    reason = f"dates, and {words} in 2 % of the rows: datasetOptions.naValues makes such words missing"
    assert found.left_out == [("day", reason)]


def test_a_word_is_named_with_its_spaces(profile):
    values = [" unknown " if row % 50 == 0 else str(row % 37) for row in range(ROWS)]
    assert list(suggestion_of(profile({"n": values, "kind": TABLE["kind"]})).na_values) == [" unknown "]


def test_words_between_numbers_may_be_in_many_rows(profile):
    values = ["unknown" if row % 9 == 0 else str(row % 37) for row in range(ROWS)]
    found = suggestion_of(profile({"n": values, "kind": TABLE["kind"]}))
    assert found.job("d.csv")["datasetOptions"] == {"naValues": ["unknown"]}
    assert found.inputs[0].comment == "0 to 36 · 'unknown' counts as missing (34 rows)"


def test_a_word_that_other_inputs_have_is_named(profile):
    values = ["y: x" if row % 9 == 0 else str(row % 37) for row in range(ROWS)]
    found = suggestion_of(profile({"n": values, "kind": TABLE["kind"]}))
    line = 'datasetOptions: {naValues: ["y: x"]}  # words that are read as missing in every column; also in kind'
    assert line in job_text(found, "d.csv", "job.yaml").splitlines()


@pytest.mark.parametrize(("name", "target"), [("y", None), ("flag", [float(row % 91) for row in range(ROWS)])])
def test_a_word_that_is_a_class_stays_one(profile, name, target):
    values = ["no" if row % 9 == 0 else str(row % 37) for row in range(ROWS)]
    flag = ["no" if DRAWS.random() < 0.5 else "yes" for _ in range(ROWS)]
    found = suggestion_of(profile({"n": values, "size": TABLE["size"], **({"flag": flag} if target else {})}, target))
    reason = f"numbers, and 'no' in 11 % of the rows, which {name!r} has too: naValues would remove it from both"
    assert found.left_out == [("n", reason)]
    assert not found.na_values


@pytest.mark.parametrize(
    ("columns", "target", "split"),
    [
        ({}, None, {"type": "stratify", "column": "y"}),
        ({}, [float(row % 91) for row in range(ROWS)], None),
        ({"when": [f"2024-01-01 00:{row // 60:02d}:{row % 60:02d}" for row in range(ROWS)]}, None,
         {"type": "datetime", "column": "when"}),
        ({"user_id": [f"u{row % 60}" for row in range(ROWS)]}, None, {"type": "hash", "column": "user_id"}),
        # The hash puts none of these 22 ids into the validation part.
        ({"user_id": [f"u0_{row % 22}" for row in range(ROWS)]}, None, {"type": "stratify", "column": "y"}),
    ],
)  # fmt: skip
def test_the_split_follows_from_the_rows(profile, columns, target, split):
    found = suggestion_of(profile({**TABLE, **columns}, target))
    assert (found.split.value if found.split else None) == split


@pytest.mark.parametrize(
    ("rows", "layers"), [(100, None), (1_999, None), (2_000, 1), (20_000, 2), (199_999, 2), (200_000, 2)]
)
def test_the_size_follows_from_the_number_of_rows(rows, layers):
    assert sizes.combiner_of(rows).get("num_fc_layers") == layers
    assert sizes.combiner_of(200_000)["output_size"] == 256


@pytest.mark.parametrize(("values", "size"), [(11, 6), (100, 21), (100_000, 50)])
def test_the_size_of_an_embedding(values, size):
    assert sizes.category_encoder(values) == {"type": "dense", "embedding_size": size}
    assert sizes.category_encoder(10) == {"type": "onehot"}


def test_rows_that_exceed_the_memory_are_read_in_windows(profile, monkeypatch):
    assert suggestion_of(profile(TABLE)).loader is None
    monkeypatch.setattr("trainwright_trainer.suggest.suggestion.usable_bytes", lambda: 10_000)
    found = suggestion_of(profile(TABLE))
    assert found.job()["backend"]["loader"] == {"fully_executed": False}
    load.loads(job_text(found, "d.csv", "job.yaml"), "job.yaml")


def test_a_text_has_a_small_encoder_or_a_pretrained_one_that_is_there(profile, monkeypatch, tmp_path):
    columns = {**TABLE, "note": [" ".join(DRAWS.choices(WORDS, k=8)) for _ in range(ROWS)]}
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    small = suggestion_of(profile(columns))
    assert features(small)["note"]["encoder"]["type"] == "embed"
    assert small.trainer is None
    commit = tmp_path / "models--bert-base-uncased/snapshots/abc"
    commit.mkdir(parents=True)
    (tmp_path / "models--bert-base-uncased/refs").mkdir()
    (tmp_path / "models--bert-base-uncased/refs/main").write_text("abc")
    for name in ("config.json", "tokenizer.json", "model.safetensors"):
        assert list(pretrained.cached_models()) == []
        (commit / name).write_text("{}")
    assert list(pretrained.cached_models()) == [("bert", "bert-base-uncased")]
    found = suggestion_of(profile(columns))
    job = load.loads(job_text(found, "d.csv", "job.yaml"), "job.yaml").job
    assert job.spec.config is not None
    assert job.spec.config.trainer.learning_rate == 0.00002
    assert features(found)["note"]["preprocessing"] == {"cache_encoder_embeddings": True}
    assert found.combiner.value["norm"] == "ghost"


def test_the_text_is_the_job(profile):
    found = suggestion_of(profile(TABLE))
    loaded = load.loads(job_text(found, "a b: #.csv", "job.yaml"), "job.yaml")
    of_job = load.loads(json.dumps(found.job("a b: #.csv")), "job.yaml")
    assert load.canonical(loaded.job.spec) == load.canonical(of_job.job.spec)
    assert loaded.job.spec.dataset == "a b: #.csv"


def test_the_text_explains_each_choice(profile):
    lines = job_text(suggestion_of(profile(TABLE)), "d.csv", "new.yaml").splitlines()
    assert "#   trainwright train new.yaml" in lines
    assert "    #   id: a different value in every row: an id" in lines
    share = round(100 * sum(row * 7919 % 13 < 5 for row in range(ROWS)) / ROWS)
    positive = f"'yes' is the positive value ({share} % of the rows) and 'no' the other"
    assert f"    # {positive}; preprocessing: {{fallback_true_label: 'no'}} reverses them" in lines
    assert any("split" in line and "each part has the same share of each class" in line for line in lines)


@pytest.mark.parametrize("name", ["a.b", "Größe (m²)", "yes", "a: b", "#", '"', "x,y", "1", "-"])
def test_any_name_of_a_column(profile, name):
    found = suggestion_of(profile({name: TABLE["size"]}))
    loaded = load.loads(job_text(found, "d.csv", "job.yaml"), "job.yaml")
    assert loaded.job.spec.config is not None
    assert loaded.job.spec.config.input_features[0].name == name


def test_text_that_is_not_utf8_is_one_line(profile):
    bad = pa.Array.from_buffers(
        pa.string(), 2, [None, pa.py_buffer(bytes([0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0])), pa.py_buffer(b"\xe9a")]
    )
    with pytest.raises(Mistakes, match=r"dataset: column 'x' holds text that is not UTF-8"):
        profile({"x": bad})


def test_what_cannot_be_suggested_is_one_line(profile):
    with pytest.raises(Mistakes, match=r"no column of it is left as an input: 'x': one value"):
        suggestion_of(profile({"x": [1] * ROWS}))
    with pytest.raises(Mistakes, match=r"--target: column 'y' of it cannot be a target: it has one value"):
        suggestion_of(profile({"x": TABLE["size"]}, ["a"] * ROWS))
