from __future__ import annotations

import pytest

from trainwright_operator.kube import resources
from trainwright_operator.kube.resources import Resource


@pytest.mark.parametrize(
    ("resource", "arguments", "path"),
    [
        (resources.PODS, (), "/api/v1/pods"),
        (resources.PODS, ("team",), "/api/v1/namespaces/team/pods"),
        (resources.JOBS, ("team", "a"), "/apis/batch/v1/namespaces/team/jobs/a"),
        (resources.NODES, (None, "n1"), "/api/v1/nodes/n1"),
        (resources.NODES, ("team", "n1"), "/api/v1/nodes/n1"),
        (
            resources.TRAINING_JOBS,
            ("team", "a", "status"),
            "/apis/trainwright.dev/v1alpha1/namespaces/team/trainingjobs/a/status",
        ),
        (resources.SECRETS, ("team", "../../x?y"), "/api/v1/namespaces/team/secrets/..%2F..%2Fx%3Fy"),
    ],
)
def test_paths(resource: Resource, arguments: tuple[str, ...], path: str) -> None:
    assert resource.path(*arguments) == path


@pytest.mark.parametrize(
    ("path", "word"),
    [
        ("/api/v1/pods", "pods"),
        ("/api/v1/namespaces/team/pods/a", "pods"),
        ("/api/v1/namespaces", "namespaces"),
        ("/api/v1/namespaces/team", "namespaces"),
        ("/apis/trainwright.dev/v1alpha1/namespaces/team/trainingjobs/a/status", "trainingjobs/status"),
        ("/apis/authentication.k8s.io/v1/tokenreviews", "tokenreviews"),
        ("/version", "/version"),
    ],
)
def test_a_path_is_shown_as_its_resource(path: str, word: str) -> None:
    assert resources.shown(path) == word


def test_every_resource_is_found_by_its_kind() -> None:
    assert [resources.of_kind(resource.kind) for resource in resources.ALL] == list(resources.ALL)
    with pytest.raises(KeyError):
        resources.of_kind("Deployment")
