"""Records the operator's requests for one job that it starts, for the baseline to replay."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from testkit.api.resource import TRAINING_JOBS

from bench.cluster import jobs
from bench.cluster.environment import NAMESPACE, Environment
from bench.cluster.template import VERSION, template
from trainwright_operator.controller.operator import Operator
from trainwright_operator.kube.client import JSON, Client, Json
from trainwright_operator.kube.connection import Connection
from trainwright_operator.settings import Settings

_DEFAULTS = {"query": None, "body": None, "content_type": JSON}
WARM_UP = 3
"""Number of jobs before the recorded one."""


class Recorder(Client):
    """The operator's own client, which records the requests for single jobs. Events are excluded."""

    requests: list[dict[str, Any]]

    async def request(self, method: str, path: str, **sending: Any) -> Json:
        if f"/namespaces/{NAMESPACE}/" in path and not path.endswith("/events"):
            sent = {name: sending.get(name, default) for name, default in _DEFAULTS.items()}
            self.requests.append({"method": method, "path": path, **sent})
        return await super().request(method, path, **sending)


async def record(environment: Environment, path: Path) -> None:
    """Write the requests of one job, in their order, as templates."""
    connection = await Connection.open(str(environment.cluster.kubeconfig))
    async with Recorder(connection) as client:
        client.requests = []
        async with Operator(client, replace(Settings(), identity="recorder")):
            await jobs.applied(environment, jobs.names("warm", WARM_UP), jobs.is_started)
            client.requests.clear()
            (name,) = jobs.names("recorded", 1)
            await jobs.applied(environment, [name], jobs.is_started)
    job = await environment.api.get(TRAINING_JOBS, name, NAMESPACE)
    path.write_text(json.dumps(_templates(client.requests, name, job["metadata"]["uid"])))


def _templates(requests: Sequence[Mapping[str, Any]], name: str, uid: str) -> Sequence[str]:
    own = [sent for sent in requests if name in json.dumps(sent)]
    for sent in own:
        if "resourceVersion" in ((sent["body"] or {}).get("metadata") or {}):
            sent["body"]["metadata"]["resourceVersion"] = VERSION
    return [template(sent, name, uid) for sent in own]
