"""Each file of examples/kubernetes is applied unchanged, on a small table of flights, and produces a model."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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
    program = examples.EXAMPLES / "flights" / "make_data.py"
    subprocess.run([sys.executable, program, "--rows=3000", f"--output={file}"], check=True)
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


def ends_with_a_model(full_cluster: FullCluster, namespace: str, place: StorageLocation, name: str) -> None:
    file, job = examples.of_kubernetes(name)
    full_cluster.kubectl("apply", f"-n={namespace}", "-f", str(file))
    status = jobs.ended(full_cluster.kubectl, namespace, job, seconds=600)
    assert status["phase"] == "Complete", status
    assert place.read(f"{status['model']}/weights.safetensors")
    assert 0 < status["testScores"]["late.roc_auc"] < 1
