"""An export predicts what `predict` predicts, for every input, encoder, combiner and output that is built."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

from trainwright_api.checks import support
from trainwright_api.problems import Mistakes
from trainwright_trainer import predict, train
from trainwright_trainer.export import refusals
from trainwright_trainer.export.transform import Transform
from trainwright_trainer.serving import load
from trainwright_trainer.tasks.export import export
from trainwright_trainer.tasks.trained_model import load_trained

from . import export_jobs as jobs
from .test_images import OWN, SMALLEST
from .test_images import home as pictures  # noqa: F401
from .test_images import job as image_job
from .test_pretrained_text import SMALL as FAMILIES
from .test_pretrained_text import home  # noqa: F401
from .test_pretrained_text import job as pretrained_job

pytestmark = pytest.mark.filterwarnings("ignore:the table:UserWarning")  # gaps are counted in a warning
MANY = 10_000
TOLERANCE = 1e-5
LIBRARY = [word for word in SMALLEST if word not in OWN]


def some_of_them(*core: int) -> list[Any]:
    """The places of all jobs; those outside the core are slow."""
    return [place if place in core else pytest.param(place, marks=pytest.mark.slow) for place in range(jobs.JOBS)]


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A function that trains a job of `export_jobs` once, and returns its run's folder."""
    folder = tmp_path_factory.mktemp("runs")
    jobs.rows(400).to_parquet(folder / "rows.parquet")
    made: dict[str, Path] = {}

    def of(place: int, **trainer: Any) -> Path:
        name = f"{place} {sorted(trainer.items())}"
        if name not in made:
            made[name] = folder / str(len(made))
            whole = {"dataset": str(folder / "rows.parquet"), "config": jobs.job(place, **trainer)}
            train(whole, output=made[name], quiet=True)
        return made[name]

    return of


def predicted(run: Path, rows: pd.DataFrame) -> pa.Table:
    """The predictions of `predict` alone: the targets would stand beside them."""
    table = pa.Table.from_pandas(rows.drop(columns=[one["name"] for one in jobs.OUTPUTS], errors="ignore"))
    return predict(dataset=table, model=run, output=run / "predictions.parquet", quiet=True)


def assert_same(found: pa.Table, expected: pa.Table) -> None:
    assert found.schema.equals(expected.schema)
    assert len(found) == len(expected)
    for name in expected.column_names:
        ours, theirs = found[name].combine_chunks(), expected[name].combine_chunks()
        assert ours.is_null().equals(theirs.is_null()), name
        pairs = [one.flatten() if pa.types.is_list(one.type) else one.drop_null() for one in (ours, theirs)]
        assert not pa.types.is_list(ours.type) or ours.value_lengths().equals(theirs.value_lengths()), name
        if pa.types.is_string(pairs[1].type):
            assert ours.equals(theirs), name
            continue
        found_values, wanted = (np.asarray(one, np.float64) for one in pairs)
        # A probability to 1e-5. A number has 7 digits in float32, so 1e-5 of its value, if that is above 1.
        scale = 1.0 if "_probabilit" in name else np.maximum(1, np.abs(wanted))
        assert (np.abs(found_values - wanted) <= TOLERANCE * scale).all(), name


def test_the_jobs_have_every_input_encoder_combiner_and_output() -> None:
    configs = [jobs.job(place) for place in range(jobs.JOBS)]
    pairs = {(one["type"], one["encoder"]["type"]) for config in configs for one in config["input_features"]}
    wanted = {(kind, word) for kind in refusals.INPUTS for word in jobs.words_of(kind)}
    assert pairs == wanted
    assert {config["combiner"]["type"] for config in configs} == set(support.COMBINERS)
    assert {one["type"] for one in jobs.OUTPUTS} == set(refusals.OUTPUTS)
    decoders = [one["decoder"] for config in configs for one in config["output_features"] if "decoder" in one]
    assert {one["type"] for one in decoders} == {"generator", "tagger"}
    assert {one.get("cell_type") for one in decoders} == {*jobs.CELLS, None}
    assert set(support.ENCODERS["text"]) == {*jobs.words_of("text"), *FAMILIES, "auto_transformer"}


@pytest.mark.parametrize("place", some_of_them(0, 9))
def test_onnx_predicts_the_same(place: int, trained: Any, tmp_path: Path) -> None:
    run = trained(place)
    export(str(run), "onnx", str(tmp_path))
    model = load(tmp_path)
    for count in (1, MANY):
        rows = jobs.rows(count, seed=count, gaps=count > 1)
        expected = predicted(run, rows)
        assert (expected["why_predictions"].null_count > 0) == (count > 1)
        assert_same(model.predict(pa.Table.from_pandas(rows)), expected)


@pytest.mark.parametrize("place", some_of_them(0))
def test_torch_export_predicts_the_same(place: int, trained: Any, tmp_path: Path) -> None:
    run = trained(place)
    export(str(run), "torch_export", str(tmp_path))
    transform = Transform.load(tmp_path)
    graph = torch.export.load(tmp_path / transform.graph).module()
    for count in (1, MANY):
        rows = jobs.rows(count, seed=count, gaps=count > 1)
        found = []
        for encoded in transform.encode(pa.Table.from_pandas(rows)):  # images come in several blocks
            with torch.inference_mode():
                tensors = encoded.tensors()
                outputs = graph(*(torch.from_numpy(tensors[one.name]) for one in transform.inputs))
            named = {one.name: values.numpy() for one, values in zip(transform.outputs, outputs, strict=True)}
            found.append(transform.decode(named, encoded))
        assert_same(pa.concat_tables(found), predicted(run, rows))


def test_a_large_target_is_exact_in_units_of_its_deviation(tmp_path: Path) -> None:
    """Of numbers around 3 million that vary by 100, float32 alone holds no digit after the point."""
    size = np.random.default_rng(0).normal(size=MANY)
    rows = pd.DataFrame({"size": size, "price": 3e6 + 100 * size})
    features: Any = {"input_features": [{"name": "size", "type": "number"}]}
    target = {"name": "price", "type": "number", "preprocessing": {"normalization": "zscore"}}
    config = features | {"output_features": [target], "trainer": {"epochs": 2, "batch_size": 500}}
    train({"config": config}, dataset=rows, output=tmp_path / "run", quiet=True)
    export(str(tmp_path / "run"), "onnx", str(tmp_path / "export"))
    found, expected = (
        model.predict(rows[["size"]])["price_predictions"]
        for model in (load(tmp_path / "export"), load_trained(tmp_path / "run"))
    )
    assert expected.std() > 10
    assert (found - expected).abs().max() <= TOLERANCE * rows["price"].std()


def test_safetensors_predict_the_same_to_the_bit(trained: Any, tmp_path: Path) -> None:
    run = trained(0)
    export(str(run), "safetensors", str(tmp_path / "export"))
    rows = jobs.rows(50)
    assert predicted(tmp_path / "export", rows).equals(predicted(run, rows))


def test_double_precision_predicts_the_same(tmp_path: Path) -> None:
    """Of a model without convolutions and recurrent layers."""
    config, run = jobs.job(9, precision="float64"), tmp_path / "run"
    config["input_features"] = [one for one in config["input_features"] if one["type"] != "image"]
    train({"config": config}, dataset=jobs.rows(400), output=run, quiet=True)
    export(str(run), "onnx", str(tmp_path / "export"))
    rows = jobs.rows(50, gaps=True)
    assert_same(load(tmp_path / "export").predict(pa.Table.from_pandas(rows)), predicted(run, rows))


@pytest.mark.parametrize(
    "word", ["bert", *(pytest.param(word, marks=pytest.mark.slow) for word in FAMILIES if word != "bert")]
)
def test_pretrained_text_predicts_the_same(word: str, home: Path, tmp_path: Path) -> None:  # noqa: F811
    run = tmp_path / "run"
    train(pretrained_job(home, word), output=run, quiet=True)
    if word in refusals.UNTRACED:
        with pytest.raises(
            Mistakes, match=rf"encoder.type: '{word}' cannot be exported to onnx: use format safetensors"
        ):
            export(str(run), "onnx")
        return
    export(str(run), "onnx")
    model, rows = load(run / "export/onnx"), pd.read_parquet(home / "rows.parquet")
    for some in (rows[["review"]][:1], rows[["review"]]):
        assert_same(model.predict(pa.Table.from_pandas(some)), predicted(run, some))


@pytest.mark.parametrize(
    "word", ["resnet", *(pytest.param(word, marks=pytest.mark.slow) for word in LIBRARY if word != "resnet")]
)
def test_models_of_images_predict_the_same(word: str, pictures: Path, tmp_path: Path) -> None:  # noqa: F811
    """From the paths of the files to the predictions."""
    size, own = SMALLEST[word]
    given = {"type": word, "use_pretrained": False, **own}
    train(image_job(pictures, given, preprocessing={"height": size, "width": size}), output=tmp_path, quiet=True)
    export(str(tmp_path), "onnx")
    model, rows = load(tmp_path / "export/onnx"), pd.read_csv(pictures / "rows.csv")[["picture"]]
    rows["picture"] = [str(pictures / name) for name in rows["picture"]]
    for some in (rows[:1], rows):
        assert_same(model.predict(pa.Table.from_pandas(some)), predicted(tmp_path, some))


def test_what_torch_cannot_trace_is_one_line(trained: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: Any, **__: Any) -> None:
        raise RuntimeError from ValueError("a value decides\nadvice")

    monkeypatch.setattr("trainwright_trainer.tasks.export.traced", fails)
    line = "config: torch cannot export this model to onnx: use format safetensors, .* \\(a value decides\\)$"
    with pytest.raises(Mistakes, match=line):
        export(str(trained(0)), "onnx", str(tmp_path))


_WITHOUT_TORCH = """
import sys
import warnings
warnings.simplefilter("ignore")  # what is found in the rows
sys.modules["torch"] = None  # every import of torch fails
import pyarrow.parquet as pq
from trainwright_trainer.serving import load
pq.write_table(load("export").predict(pq.read_table("rows.parquet")), "found.parquet")
assert not [name for name in sys.modules if name.partition(".")[0] in ("ray", "boto3", "safetensors", "dask")]
"""


def test_onnx_needs_no_torch(trained: Any, workplace: Any) -> None:
    run = trained(1)
    export(str(run), "onnx", str(workplace.folder / "export"))
    rows = jobs.rows(50, gaps=True)
    pq.write_table(pa.Table.from_pandas(rows), workplace.folder / "rows.parquet")
    ended = workplace.python(_WITHOUT_TORCH)
    assert (ended.code, ended.err) == (0, "")
    assert_same(pq.read_table(workplace.folder / "found.parquet"), predicted(run, rows))


@pytest.mark.parametrize(
    ("section", "kinds", "built"),
    [("input_features", refusals.INPUTS, support.INPUTS), ("output_features", refusals.OUTPUTS, support.OUTPUTS)],
)
def test_every_other_type_is_refused_by_name(section: str, kinds: tuple[str, ...], built: tuple[str, ...]) -> None:
    others = [*(kind for kind in built if kind not in kinds), "hologram"]
    config: Any = SimpleNamespace(input_features=[], output_features=[], trainer=SimpleNamespace(precision="float32"))
    setattr(config, section, [SimpleNamespace(type=kind, encoder=SimpleNamespace(type="own")) for kind in others])
    model: Any = torch.nn.Identity()
    with pytest.raises(Mistakes) as caught:
        refusals.refuse(config, model, "onnx")
    assert [problem.path for problem in caught.value.problems] == [
        f"config.{section}[{position}].type" for position in range(len(others))
    ]
    assert all(kind in problem.message for kind, problem in zip(others, caught.value.problems, strict=True))
