"""Kueue's manifests, changed for a pod of the node."""

from __future__ import annotations

import json
from typing import Any

from testkit.cluster.node.kueue import CONFIG, DIGEST, changed, image


def deployment() -> dict[str, Any]:
    container = {"name": "manager", "image": "elsewhere", "imagePullPolicy": "Always", "args": ["--config=x"]}
    template = {"metadata": {"annotations": {}}, "spec": {"containers": [container]}}
    return {"kind": "Deployment", "spec": {"template": template}}


def test_the_pod_runs_our_image_alone() -> None:
    given = deployment()
    made = changed(given, {})
    [container] = made["spec"]["template"]["spec"]["containers"]
    assert (container["image"], container["imagePullPolicy"]) == (image(), "IfNotPresent")
    assert container["args"] == ["--config=x"]
    assert made["spec"]["strategy"] == {"type": "Recreate"}
    assert given == deployment()


def test_another_configuration_starts_another_pod() -> None:
    first, second = (
        changed(deployment(), more)["spec"]["template"]["metadata"]["annotations"][DIGEST]
        for more in ({}, {"waitForPodsReady": {"timeout": "1s"}})
    )
    assert first != second


def test_the_configuration_is_ours_and_other_objects_stay() -> None:
    made = changed({"kind": "ConfigMap", "data": {CONFIG: "theirs"}}, {"waitForPodsReady": {"timeout": "1s"}})
    configuration = json.loads(made["data"][CONFIG])
    assert configuration["waitForPodsReady"] == {"timeout": "1s"}
    assert configuration["leaderElection"] == {"leaderElect": False}
    service = {"kind": "Service", "spec": {"selector": {"app": "kueue"}}}
    assert changed(service, {}) == service
