"""The control plane is a real one: it serves, collects, deletes, hands out tokens, logs, and leaves nothing behind."""

from __future__ import annotations

import json

from e2e.cluster import binaries
from e2e.cluster.cluster import Cluster


def test_client_and_server_are_of_the_pinned_version(cluster: Cluster) -> None:
    said = json.loads(cluster.kubectl("version", "-o", "json"))
    assert {said[side]["gitVersion"] for side in ("clientVersion", "serverVersion")} == {binaries.kubernetes_version()}
    assert (said["serverVersion"]["major"], said["serverVersion"]["minor"]) == ("1", "34")
