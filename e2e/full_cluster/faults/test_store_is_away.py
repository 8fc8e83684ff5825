"""The S3 server is down for half a minute and then answers 503 for another: training waits and continues."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from testkit.cluster.busy_server import Busy
from testkit.cluster.node.cluster_folder import HOST, S3_PORT, ClusterFolder
from testkit.cluster.port import listens
from testkit.cluster.process import Process, wait_until
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.training import STEPS, Done, Training
from testkit.full_cluster.volume import Volume

SECONDS = 30.0
PORT = S3_PORT + 1
ADDRESS = f"{HOST}:{PORT}"


class Way:
    """A proxy to the S3 server of the cluster for one job. Its connections break when it is closed."""

    def __init__(self, full_cluster: FullCluster, log: Path) -> None:
        self._beyond, self._log = urlsplit(full_cluster.s3["AWS_ENDPOINT_URL"]).netloc, log
        self.open()

    def open(self) -> None:
        listen = f"TCP-LISTEN:{PORT},bind={HOST},fork,reuseaddr"
        self._process = Process(Path("socat"), {}, self._log, words=[listen, f"TCP:{self._beyond}"])
        wait_until(lambda: listens(HOST, PORT), self._process)

    def close(self) -> None:
        self._process.kill()


@pytest.fixture
def way(place: ClusterFolder, operator: FullCluster, tmp_path: Path) -> Iterator[Way]:  # noqa: ARG001 (an address that pods reach)
    with contextlib.closing(Way(operator, tmp_path / "way.log")) as made:
        yield made


def test_the_same_attempt_goes_on(
    way: Way, operator: FullCluster, namespace: str, bucket: Bucket, volume: Volume, undisturbed: Done
) -> None:
    by_the_way = replace(operator, s3={**operator.s3, "AWS_ENDPOINT_URL": f"http://{ADDRESS}"})
    training = Training(by_the_way, namespace, bucket, volume)
    training.start()
    training.until_step(STEPS // 3)
    before = training.running()
    way.close()
    time.sleep(SECONDS)
    with contextlib.closing(Busy(ADDRESS)) as busy:
        time.sleep(SECONDS)
        assert busy.refused
    way.open()
    training.until_step(STEPS * 2 // 3)
    assert training.running() == before
    training.finish_in_one_attempt(undisturbed)
