"""The pod template of every kind of child. It passes the Pod Security Standard *restricted*."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from trainwright_operator.children import overlay
from trainwright_operator.children.child_spec import ChildSpec, has_devices
from trainwright_operator.children.env import WITHOUT_GPUS
from trainwright_operator.children.overlay import Role
from trainwright_operator.children.volumes import Mounted

TRAINER = "trainer"
"""The container that runs the training program, in the pods of Jobs."""
RAY = "ray"
SUBMITTER = "submitter"

USER = 1000
GRACE_SECONDS = 60
"""The time between SIGTERM and SIGKILL, for a last checkpoint, and for Ray's head to outlive its workers."""

POD_SECURITY: Mapping[str, Any] = MappingProxyType(
    {"runAsNonRoot": True, "fsGroupChangePolicy": "OnRootMismatch", "seccompProfile": {"type": "RuntimeDefault"}}
)
USER_SECURITY: Mapping[str, Any] = MappingProxyType({"runAsUser": USER, "runAsGroup": USER, "fsGroup": USER})
"""The user of our images. OpenShift sets a user and groups of its own, and refuses any other."""
CONTAINER_SECURITY: Mapping[str, Any] = MappingProxyType(
    {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}, "readOnlyRootFilesystem": True}
)
LOST_NODE = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


def container(
    child_spec: ChildSpec,
    name: str,
    role: Role,
    *,
    env: Mapping[str, str],
    resources: Mapping[str, Any],
    mounted: Sequence[Mounted],
    command: Sequence[str] = (),
) -> dict[str, Any]:
    """Return a container with the overlay of its role. All but the submitter's also get the Secret of the job."""
    template = child_spec.template(role)
    sources = [*(() if role == "submitter" else _credentials(child_spec)), *template.get("envFrom", ())]
    own = {"command": list(command)} if command else {}
    hidden = {} if has_devices(resources) else WITHOUT_GPUS
    pulled = {"imagePullPolicy": template["imagePullPolicy"]} if template.get("imagePullPolicy") else {}
    return {
        "name": name,
        "image": child_spec.image_for(resources),
        **pulled,
        **own,
        "env": overlay.variables({**env, **hidden}, template),
        **({"envFrom": [dict(source) for source in sources]} if sources else {}),
        "resources": dict(resources),
        "volumeMounts": overlay.mounts((item.mount for item in mounted), template),
        "securityContext": overlay.security_context(CONTAINER_SECURITY, template, "containerSecurityContext"),
        "terminationMessagePolicy": "FallbackToLogsOnError",
    }


def pod(child_spec: ChildSpec, made: Mapping[str, Any], role: Role, mounted: Sequence[Mounted]) -> dict[str, Any]:
    """Return a pod template with this container and the overlay of its role."""
    template = overlay.tolerating(child_spec.template(role), overlay.asked(made["resources"]))
    first = overlay.init_containers(template, made["image"], CONTAINER_SECURITY)
    user = USER_SECURITY if child_spec.settings.jobs.fixed_user else {}
    return {
        "metadata": overlay.metadata(child_spec.labels, template),
        "spec": {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": GRACE_SECONDS,
            "automountServiceAccountToken": False,
            "enableServiceLinks": False,
            "securityContext": overlay.security_context({**POD_SECURITY, **user}, template, "securityContext"),
            "tolerations": overlay.tolerations(_lost_node(child_spec.settings.unreachable_seconds), template),
            **overlay.scheduling(template, child_spec.labels),
            "volumes": overlay.volumes((item.volume for item in mounted), template),
            **({"initContainers": first} if first else {}),
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
