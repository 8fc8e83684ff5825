"""One file trains the same model with `trainwright train` on this machine, in a pod, on Ray with two workers, and in a
gang of two pods with Horovod. A model gives the same predictions on each of them.
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from typing import Any

import pandas as pd
import pytest
from testkit.full_cluster import examples, jobs
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.laptop import Laptop
from testkit.full_cluster.volume import StorageLocation, in_bucket, on_claim

FILE = "examples/small/flights.yaml"
PREDICTING = ("local", "ray")
MODEL = ("config.json", "statistics.json", "weights.safetensors", "model.json")


@pytest.fixture(params=["s3", pytest.param("claim", marks=pytest.mark.slow)])
def place(request: pytest.FixtureRequest) -> StorageLocation:
    if request.param == "s3":
        return in_bucket(request.getfixturevalue("bucket"))
    return on_claim(request.getfixturevalue("volume"))


def test_an_example_learns_and_predicts_the_same_wherever_it_runs(
    operator: FullCluster, namespace: str, place: StorageLocation, laptop: Laptop
) -> None:
    place.put(examples.FLIGHTS, examples.FLIGHTS.name)
    wanted = [examples.small_flights(place, backend) for backend in ("ray", "local", "horovod")]
    jobs.apply(operator.kubectl, namespace, jobs.keys(operator), *wanted)
    laptop.trainwright("train", FILE)
    here = json.loads((laptop.folder / "out/small-flights/metrics.json").read_text())
    for name in ("flights-local", "flights-ray", "flights-horovod"):
        status = done(operator, namespace, name)
        there = json.loads(place.read(f"{status['output']}/metrics.json"))
        assert curve(there) == same(curve(here)), name

    of_ray = status["model"]
    jobs.apply(operator.kubectl, namespace, *(examples.predictions(place, backend, of_ray) for backend in PREDICTING))
    model = as_named_here(of_ray, place, laptop)
    assert evaluated(laptop, model) == same(flat(here["end"]["test"]))
    asked_here, of_laptop = predicted(laptop, model), predicted(laptop, "out/small-flights/model")
    assert len(asked_here) == len(pd.read_csv(examples.FLIGHTS))
    for backend in PREDICTING:
        status = done(operator, namespace, f"predictions-{backend}")
        asked_there = pd.read_parquet(io.BytesIO(place.read(f"{status['output']}/predictions.parquet")))
        pd.testing.assert_frame_equal(asked_there, asked_here, rtol=1e-12, atol=0)
        pd.testing.assert_frame_equal(asked_there, of_laptop, rtol=1e-8, atol=0)


def done(full_cluster: FullCluster, namespace: str, name: str) -> Mapping[str, Any]:
    """Return the status of a job that its first attempt has completed."""
    status = jobs.ended(full_cluster.kubectl, namespace, name, seconds=600)
    assert [attempt["outcome"] for attempt in status["attempts"]] == ["done"], status
    assert status["phase"] == "Complete", status
    return status


def predicted(laptop: Laptop, model: str) -> pd.DataFrame:
    laptop.trainwright("predict", FILE, "--model", model, "--output", "predictions.parquet")
    return pd.read_parquet(laptop.folder / "predictions.parquet")


def evaluated(laptop: Laptop, model: str) -> Mapping[str, float]:
    """Return the scores on the test rows of the data."""
    laptop.trainwright("evaluate", FILE, "--model", model, "--output", "evaluated")
    found = json.loads((laptop.folder / "evaluated/evaluation.json").read_text())
    assert found["part"] == "test"
    return flat(found["scores"])


def as_named_here(model: str, place: StorageLocation, laptop: Laptop) -> str:
    """Return the URI of the model. A model on a claim is copied first."""
    if "://" in model:
        return model
    folder = laptop.folder / "copied"
    folder.mkdir()
    for name in MODEL:
        (folder / name).write_bytes(place.read(f"{model}/{name}"))
    return str(folder)


def curve(metrics: Mapping[str, Any]) -> Mapping[str, float]:
    """Return every score of every round and of the test rows, by name. Training losses are means over steps."""
    rounds = {f"step {one['step']}": {**one["scores"], "rate": one["learning_rate"]} for one in metrics["rounds"]}
    return flat({**rounds, "test": metrics["end"]["test"], "best": metrics["best"]})


def same(scores: Mapping[str, float]) -> Mapping[str, Any]:
    """Compare to nine digits."""
    return {name: pytest.approx(value, rel=1e-9, abs=0) for name, value in scores.items()}


def flat(tree: Mapping[str, Any], parents: str = "") -> dict[str, float]:
    found: dict[str, float] = {}
    for name, value in tree.items():
        found |= flat(value, f"{parents}{name} ") if isinstance(value, Mapping) else {f"{parents}{name}": value}
    return found
