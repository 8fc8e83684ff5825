"""Names are valid for KubeRay and DNS, and unique."""

from __future__ import annotations

import re

import pytest

from trainwright_operator.model.names import FILE_LIMIT, LABEL_LIMIT, child_name, common_name, labels, run_folder

UID, OTHER = "1c9e2f7a-0000-4000-8000-000000000000", "2d9e2f7a-0000-4000-8000-000000000000"
JOBS = ("flights", "a" * 253, "1-starts.with.a.digit", "ends-in-a-hyphen-where-it-is-cut-", "x")
RAY_CLUSTER_LIMIT = 53
SUFFIX_OF_KUBERAY = 6
"""KubeRay appends a hyphen and five letters to the name of a RayJob to name its RayCluster."""


@pytest.mark.parametrize("job", JOBS)
@pytest.mark.parametrize("stage", ["train", "preprocess", "experiment"])
@pytest.mark.parametrize("attempt", [1, 10, 1_000_000_000])
def test_a_child_has_a_name_that_kuberay_takes(job: str, stage: str, attempt: int) -> None:
    name = child_name(job, UID, attempt, stage)
    assert re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", name)
    assert len(name) <= RAY_CLUSTER_LIMIT - SUFFIX_OF_KUBERAY
    assert name.endswith(f"-1c9e2f7a-{attempt}-{stage}")


def test_jobs_whose_names_are_cut_alike_differ() -> None:
    assert child_name("a" * 100, UID, 1, "train") != child_name("a" * 100, OTHER, 1, "train")
    assert common_name("a" * 100, UID) != common_name("a" * 100, OTHER)


@pytest.mark.parametrize("job", JOBS)
def test_a_label_is_short_enough(job: str) -> None:
    assert all(re.fullmatch(r"[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?", text) for text in labels(job, UID).values())
    assert all(len(text) <= LABEL_LIMIT for text in labels(job, UID, 1, "train").values())


@pytest.mark.parametrize("job", JOBS)
def test_a_run_folder_is_one_that_file_systems_take(job: str) -> None:
    folder = run_folder("s3://runs/", "team", job, UID)
    *place, name = folder.split("/")
    assert "/".join(place) == "s3://runs/team"
    assert len(name) <= FILE_LIMIT
    assert name.startswith(job[:200])
    assert name.endswith("-1c9e2f7a")
