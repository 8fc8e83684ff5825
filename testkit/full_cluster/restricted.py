"""Pods that satisfy the Pod Security Standard *restricted*."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

LABELS = {f"pod-security.kubernetes.io/{mode}": "restricted" for mode in ("enforce", "warn", "audit")}


def pod(name: str, image: str, command: Sequence[str], labels: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Return a pod that runs a command once."""
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": dict(labels or {})},
        "spec": spec(name, image, command=list(command)),
    }


def spec(container: str, image: str, **fields: Any) -> dict[str, Any]:
    """Return a container with a read-only root and a writable /tmp."""
    return {
        "restartPolicy": "Never",
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 1000,
            "runAsGroup": 1000,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumes": [{"name": "tmp", "emptyDir": {}}],
        "containers": [
            {
                "name": container,
                "image": image,
                "imagePullPolicy": "IfNotPresent",
                "env": [{"name": "HOME", "value": "/tmp"}],
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "readOnlyRootFilesystem": True,
                    "capabilities": {"drop": ["ALL"]},
                },
                "volumeMounts": [{"name": "tmp", "mountPath": "/tmp"}],
                **fields,
            }
        ],
    }
