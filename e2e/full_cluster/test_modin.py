"""Modin prepares the data of a job in the pods of its Ray cluster, from an image of its own, and the job trains."""

from __future__ import annotations

import pytest
from testkit.cluster import images
from testkit.cluster.errors import ClusterError
from testkit.cluster.images.ours import MODIN
from testkit.cluster.node.cluster_folder import FIRST
from testkit.cluster.node.store import ctr
from testkit.full_cluster import jobs
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.laptop import Laptop


@pytest.fixture
def image(full_cluster: FullCluster) -> str:
    """The image, as a job names it."""
    if full_cluster.place is not None:
        try:
            images.load(ctr(full_cluster.place.socket(FIRST)), layout=images.build_modin())
        except ClusterError as problem:
            pytest.fail(str(problem), pytrace=False)
    return full_cluster.image("trainwright") + MODIN.variant


def test_modin_fills_the_cache_in_pods_as_one_process_does(
    operator: FullCluster, namespace: str, bucket: Bucket, laptop: Laptop, image: str
) -> None:
    job = jobs.on_ray("prepared", bucket)
    job["spec"] |= {"image": image, "backend": {**job["spec"]["backend"], "processor": {"type": "modin"}}}
    jobs.apply(operator.kubectl, namespace, jobs.keys(operator), job)
    status = jobs.ended(operator.kubectl, namespace, "prepared", seconds=600)
    assert [attempt["outcome"] for attempt in status["attempts"]] == ["done"], status

    laptop.preprocess(job, bucket.uri("of-the-laptop"))
    assert bucket.encoded("cache") == bucket.encoded("of-the-laptop") != {}
