"""The API server's audit log: the user, the request and the response."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

LOG = "audit.log"
# Watches are logged at their start, so that running ones appear. The server's own calls are left out.
POLICY: Mapping[str, Any] = {
    "apiVersion": "audit.k8s.io/v1",
    "kind": "Policy",
    "omitStages": ["RequestReceived"],
    "omitManagedFields": True,
    "rules": [{"level": "None", "users": ["system:apiserver"]}, {"level": "Metadata"}],
}


@dataclass(frozen=True)
class AuditEvent:
    """One request at one stage (ResponseStarted for a running watch, ResponseComplete, Panic)."""

    stage: str
    time: str
    verb: str
    user: str
    groups: tuple[str, ...]
    uri: str
    api_group: str
    resource: str
    subresource: str
    namespace: str
    name: str
    code: int
    decision: str
    """`allow` or `forbid`, the authorizer's decision."""
    enforced: str
    """The Pod Security Standard that the created object passed, as in restricted:latest."""


def read(log: Path) -> Iterator[AuditEvent]:
    """All events so far. A last line that is half written is left for the next read."""
    if not log.exists():
        return
    with log.open() as lines:
        for line in lines:
            if line.endswith("\n"):
                yield _event(json.loads(line))


def _event(logged: Mapping[str, Any]) -> AuditEvent:
    target: Mapping[str, str] = logged.get("objectRef", {})
    annotations: Mapping[str, str] = logged.get("annotations", {})
    return AuditEvent(
        stage=logged["stage"],
        time=logged["stageTimestamp"],
        verb=logged["verb"],
        user=logged["user"].get("username", ""),
        groups=tuple(logged["user"].get("groups", ())),
        uri=logged["requestURI"],
        api_group=target.get("apiGroup", ""),
        resource=target.get("resource", ""),
        subresource=target.get("subresource", ""),
        namespace=target.get("namespace", ""),
        name=target.get("name", ""),
        code=logged.get("responseStatus", {}).get("code", 0),
        decision=annotations.get("authorization.k8s.io/decision", ""),
        enforced=annotations.get("pod-security.kubernetes.io/enforce-policy", ""),
    )
