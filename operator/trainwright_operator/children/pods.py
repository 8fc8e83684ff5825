"""The pod template of every kind of child. It passes the Pod Security Standard *restricted*."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from trainwright_operator.children import overlay
from trainwright_operator.children.child_spec import ChildSpec
from trainwright_operator.children.volumes import Mounted

TRAINER = "trainer"
"""The container that runs the training program, in the pods of Jobs."""
RAY = "ray"
SUBMITTER = "submitter"

USER = 1000
GRACE_SECONDS = 60
"""The time between SIGTERM and SIGKILL, for a last checkpoint, and for Ray's head to outlive its workers."""

POD_SECURITY: Mapping[str, Any] = MappingProxyType(
    {
        "runAsNonRoot": True,
        "runAsUser": USER,
        "runAsGroup": USER,
        "fsGroup": USER,
        "fsGroupChangePolicy": "OnRootMismatch",
        "seccompProfile": {"type": "RuntimeDefault"},
    }
)
CONTAINER_SECURITY: Mapping[str, Any] = MappingProxyType(
    {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": True}
)
LOST_NODE = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def container(
    child_spec: ChildSpec,
    name: str,
    *,
    env: Mapping[str, str],
    resources: Mapping[str, Any],
    mounted: Sequence[Mounted],
    command: Sequence[str] = (),
) -> dict[str, Any]:
    """Return a container without the user's volumes and environment sources; `trainer_container` adds them."""
    own = {"command": list(command)} if command else {}
    return {
        "name": name,
        "image": child_spec.image,
        **own,
        "env": overlay.variables(env, child_spec.pod_template),
        "resources": dict(resources),
        "volumeMounts": [dict(item.mount) for item in mounted],
        "securityContext": dict(CONTAINER_SECURITY),
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def trainer_container(
    child_spec: ChildSpec,
    name: str,
    *,
    env: Mapping[str, str],
    resources: Mapping[str, Any],
    mounted: Sequence[Mounted],
    command: Sequence[str] = (),
) -> dict[str, Any]:
    """Return a container that runs the training program or a part of it, with the user's volumes and Secrets."""
    made = container(child_spec, name, env=env, resources=resources, mounted=mounted, command=command)
    made["volumeMounts"] = overlay.mounts((item.mount for item in mounted), child_spec.pod_template)
    sources = [*_credentials(child_spec), *child_spec.pod_template.get("envFrom", ())]
    return {**made, "envFrom": [dict(source) for source in sources]} if sources else made


def pod(
    child_spec: ChildSpec, made: Mapping[str, Any], mounted: Sequence[Mounted], *, volumes: bool = True
) -> dict[str, Any]:
    """Return a pod template with this container. With `volumes` it has the user's volumes."""
    template = child_spec.pod_template
    own_volumes = (item.volume for item in mounted)
    return {
        "metadata": overlay.metadata(child_spec.labels, template),
        "spec": {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": GRACE_SECONDS,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "securityContext": overlay.security_context(POD_SECURITY, template),
            "tolerations": overlay.tolerations(_lost_node(child_spec.settings.unreachable_seconds), template),
            **overlay.scheduling(template),
            "volumes": overlay.volumes(own_volumes, template if volumes else {}),
            "containers": [dict(made)],
        },
    }


def _credentials(child_spec: ChildSpec) -> list[dict[str, Any]]:
    found = child_spec.spec.credentials
    return [{"secretRef": {"name": found.secret_name}}] if found else []


def _lost_node(seconds: int) -> list[dict[str, Any]]:
    return [
        {"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": seconds} for key in LOST_NODE
    ]
