"""Each file of examples/kubernetes is applied unchanged, on a small table of flights, and produces a model. So do the
examples of text and images on two workers.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from testkit.full_cluster import examples, jobs
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.volume import StorageLocation, Volume, in_bucket, on_claim

DATA = "flights.parquet"


@pytest.fixture(scope="module")
def flights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The data, created as in README.md, with fewer rows."""
    file = tmp_path_factory.mktemp("data") / DATA
    make_data("flights", "--rows=3000", f"--output={file}")
    return file


@pytest.mark.parametrize("name", ["local", "ray", "hyperopt", "horovod", "deepspeed"])
def test_an_example_in_s3(
    operator: FullCluster, namespace: str, bucket_of_the_files: Bucket, flights: Path, name: str
) -> None:
    place = in_bucket(bucket_of_the_files)
    place.put(flights, DATA)
    jobs.apply(operator.kubectl, namespace, jobs.keys(operator))
    ends_with_a_model(operator, namespace, place, name)


def test_the_example_on_a_volume(operator: FullCluster, namespace: str, flights: Path) -> None:
    volume = Volume.make(operator, namespace, "flights")
    try:
        volume.put(flights, DATA)
        ends_with_a_model(operator, namespace, on_claim(volume), "volume")
    finally:
        volume.remove()


def test_the_example_of_text_on_two_workers(
    operator: FullCluster, namespace: str, bucket: Bucket, tmp_path: Path
) -> None:
    make_data("docstrings", "--most=100", f"--output={tmp_path / 'docstrings.parquet'}")
    place = in_bucket(bucket)
    dataset = place.put(tmp_path / "docstrings.parquet", "docstrings.parquet")
    learns(operator, namespace, place, examples.on_two_workers("docstrings", place, dataset, epochs=12), "library")


def test_the_example_of_images_on_two_workers(
    operator: FullCluster, namespace: str, bucket: Bucket, tmp_path: Path
) -> None:
    """The paths in the table are relative to its folder, in the bucket too."""
    make_data("images", "--rows=400", f"--output={tmp_path}")
    place = in_bucket(bucket)
    for file in (tmp_path / "digits").iterdir():
        place.put(file, f"digits/{file.name}")
    dataset = place.put(tmp_path / "digits.csv", "digits.csv")
    learns(operator, namespace, place, examples.on_two_workers("images", place, dataset, epochs=8), "digit")


def make_data(name: str, *words: str) -> None:
    """Create the data of an example, as its README says."""
    subprocess.run([sys.executable, examples.EXAMPLES / name / "make_data.py", *words], check=True)


def learns(full_cluster: FullCluster, namespace: str, place: StorageLocation, job: dict[str, Any], output: str) -> None:
    """Check that two workers train one model, which is better than chance among eight or ten classes."""
    name = job["metadata"]["name"]
    jobs.apply(full_cluster.kubectl, namespace, jobs.keys(full_cluster), job)
    status = jobs.ended(full_cluster.kubectl, namespace, name, seconds=600)
    assert (status["phase"], status["resolved"]["workers"]) == ("Complete", 2), status
    assert [attempt["outcome"] for attempt in status["attempts"]] == ["done"]
    assert place.read(f"{status['model']}/weights.safetensors")
    assert status["testScores"][f"{output}.accuracy_micro"] > 0.25, status["testScores"]


def ends_with_a_model(full_cluster: FullCluster, namespace: str, place: StorageLocation, name: str) -> None:
    file, job = examples.of_kubernetes(name)
    full_cluster.kubectl("apply", f"-n={namespace}", "-f", str(file))
    status = jobs.ended(full_cluster.kubectl, namespace, job, seconds=600)
    assert status["phase"] == "Complete", status
    assert place.read(f"{status['model']}/weights.safetensors")
    assert 0 < status["testScores"]["late.roc_auc"] < 1
