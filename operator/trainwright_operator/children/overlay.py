"""Merges the administrator's defaults and `spec.podTemplate` into the operator's pods.

The operator's value wins where the job needs it to run.

In this module, "ours" are the operator's values and "theirs" those of `spec.podTemplate`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from posixpath import normpath
from typing import Any, Literal

from trainwright_api.resource.environment import OWN_FOLDERS, OWN_VARIABLES, OWN_VOLUMES
from trainwright_api.resource.kubernetes import ROLES
from trainwright_api.resource.quantity import devices, exceeding, has_equal_sides
from trainwright_operator.model.reading import mapping

Role = Literal["head", "worker", "submitter", "preprocess"]
"""The role of a pod. The pod of backend `local` is a worker."""

SCHEDULING = (
    *("nodeSelector", "affinity", "priorityClassName", "serviceAccountName", "imagePullSecrets", "runtimeClassName"),
    *("schedulerName", "topologySpreadConstraints", "resourceClaims", "hostNetwork", "hostIPC"),
)
"""Fields that are copied unchanged, because the operator sets none of them."""
OF_WORKERS = ("resources", "resourceClaims")
"""Fields of the overlay on every pod that reserve something, so that only pods with workers have them."""
OF_TRAINING = ("volumes", "volumeMounts", "envFrom", "initContainers")
"""Fields of the overlay on every pod that the submitter lacks, because it runs nothing of the job."""
_LEFT_OUT: Mapping[str, Sequence[str]] = {
    "head": OF_WORKERS,
    "worker": (),
    "submitter": (*OF_WORKERS, *OF_TRAINING),
    "preprocess": ("resourceClaims",),
}
_KEYS: Mapping[str, Sequence[str]] = {
    **dict.fromkeys(("env", "volumes", "imagePullSecrets", "initContainers", "resourceClaims"), ("name",)),
    "volumeMounts": ("mountPath",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
}
"""The fields that name an item of a list, as in the API server. The items of other lists are added."""
_OF_A_TERM = ("matchExpressions", "matchFields")

Template = Mapping[str, Any]
Items = Sequence[Mapping[str, Any]]


def template_of(role: Role, *templates: Template) -> Template:
    """Return the overlay on the pods of a role: of all templates, the later ones over the earlier ones."""
    merged: dict[str, Any] = {}
    for template in templates:
        shared = {key: value for key, value in template.items() if key not in (*ROLES, *_LEFT_OUT[role])}
        merged = _merged(_merged(merged, shared), template.get(role) or {})
    return merged


def _merged(under: Template, over: Template) -> dict[str, Any]:
    """Merge maps by their keys and lists by the keys of their items. Of other values, the upper one counts."""
    found = dict(under)
    for key, value in over.items():
        below = found.get(key)
        if isinstance(below, Mapping) and isinstance(value, Mapping):
            merged = _merged(below, value)
            found[key] = _within_limits(merged, value) if key == "resources" else merged
        elif isinstance(below, list) and isinstance(value, list):
            found[key] = (
                _both(below, value) if key == "nodeSelectorTerms" else _joined(below, value, _KEYS.get(key, ()))
            )
        elif value is not None:
            found[key] = value
    return found


def _within_limits(merged: Template, over: Template) -> dict[str, Any]:
    """Drop each request and limit from below that contradicts an upper one.

    No request may exceed its limit, and a request for devices or huge pages is its limit.
    """
    limits, requests = merged.get("limits") or {}, merged.get("requests") or {}
    unequal = {name for name in exceeding(limits, requests) if has_equal_sides(name)}
    refused = exceeding(requests, limits) | unequal
    return {
        **merged,
        "requests": {name: value for name, value in requests.items() if _stays(name, "requests", refused, over)},
        "limits": {name: value for name, value in limits.items() if _stays(name, "limits", refused, over)},
    }


def _stays(name: str, side: str, refused: set[str], over: Template) -> bool:
    return name not in refused or name in (over.get(side) or {})


def _joined(under: Items, over: Items, keys: Sequence[str] = ()) -> list[Any]:
    taken = {_name(item, keys) for item in over} if keys else set()
    return [*(item for item in under if not keys or _name(item, keys) not in taken), *over]


def _name(item: Mapping[str, Any], keys: Sequence[str]) -> tuple[Any, ...]:
    return tuple(item.get(key) for key in keys)


def _both(under: Items, over: Items) -> list[dict[str, Any]]:
    """Return the terms of nodes that fit one term of each list. A node needs to fit one term of a list alone."""
    return [
        {key: [*one.get(key, ()), *other.get(key, ())] for key in _OF_A_TERM if one.get(key) or other.get(key)}
        for one in under
        for other in over
    ]


def scheduling(template: Template, labels: Mapping[str, str]) -> dict[str, Any]:
    """Return the fields that set the nodes, the priority, the service account and the pull secrets of the pods.

    `labels` are those of the pods. A spread constraint without a selector, which would select no pod, is about them.
    """
    found = {key: template[key] for key in SCHEDULING if template.get(key)}
    if spread := found.get("topologySpreadConstraints"):
        found["topologySpreadConstraints"] = [{"labelSelector": {"matchLabels": dict(labels)}, **one} for one in spread]
    # Without it, a pod on the network of its node does not resolve the names of Services.
    return {**found, "dnsPolicy": "ClusterFirstWithHostNet"} if found.get("hostNetwork") else found


def init_containers(template: Template, image: str, security: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the user's containers that run first, with our image and security context where they have none.

    The status of one that fails has the end of its log, unless the user wants something else.
    """
    own = {"image": image, "terminationMessagePolicy": "FallbackToLogsOnError"}
    return [
        {**own, **container, "securityContext": _secured(security, mapping(container, "securityContext"))}
        for container in template.get("initContainers", ())
    ]


def tolerating(template: Template, requests: Mapping[str, Any]) -> Template:
    """Return the overlay of a pod with these requests, with a toleration for each device that its containers ask for.

    A taint with the name of the resource keeps all other pods off the nodes with GPUs. The admission plugin
    ExtendedResourceToleration adds the same toleration, but not every cluster has it.
    """
    containers = (requests, *(asked(mapping(one, "resources")) for one in template.get("initContainers", ())))
    names = dict.fromkeys(name for container in containers for name in devices(container))
    own = [{"key": name, "operator": "Exists", "effect": "NoSchedule"} for name in names]
    return {**template, "tolerations": [*own, *template.get("tolerations", ())]}


def tolerations(own: Items, template: Template) -> list[dict[str, Any]]:
    """Theirs replace ours of the same taint: of several, Kubernetes takes the time of the first."""
    theirs = template.get("tolerations", ())
    taken = {(item.get("key"), item.get("effect") or "NoExecute") for item in theirs}
    kept = (item for item in own if (item["key"], item["effect"]) not in taken)
    return [dict(item) for item in (*kept, *theirs)]


def metadata(own: Mapping[str, str], template: Template) -> dict[str, Any]:
    """Merge labels and annotations. Our labels always win, because the operator finds pods by them."""
    found: dict[str, Any] = {"labels": {**template.get("labels", {}), **own}}
    if template.get("annotations"):
        found["annotations"] = dict(template["annotations"])
    return found


def security_context(
    own: Mapping[str, Any], template: Template, key: Literal["securityContext", "containerSecurityContext"]
) -> dict[str, Any]:
    return _secured(own, template.get(key, {}))


def _secured(own: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """Merge security contexts. Capabilities that they add leave those dropped that we drop."""
    both = {**mapping(own, "capabilities"), **mapping(theirs, "capabilities")}
    return {**own, **theirs, **({"capabilities": both} if both else {})}


def variables(own: Mapping[str, str], template: Template) -> list[dict[str, Any]]:
    """Merge by name. Theirs replace ours, except reserved names. Ours come first, so that theirs can refer to them."""
    theirs = {item["name"]: item for item in template.get("env", ()) if not item["name"].startswith(OWN_VARIABLES)}
    kept = [{"name": name, "value": value} for name, value in own.items() if name not in theirs]
    return [*kept, *(dict(item) for item in theirs.values())]


def volumes(own: Iterable[Mapping[str, Any]], template: Template) -> list[dict[str, Any]]:
    theirs = (item for item in template.get("volumes", ()) if not item["name"].startswith(OWN_VOLUMES))
    return [dict(item) for item in (*own, *theirs)]


def mounts(own: Iterable[Mapping[str, Any]], template: Template) -> list[dict[str, Any]]:
    """Merge by path. Theirs can replace ours at /tmp and /dev/shm. Theirs within our own folders are dropped."""
    theirs = [item for item in template.get("volumeMounts", ()) if not _is_ours(item["mountPath"])]
    taken = {normpath(item["mountPath"]) for item in theirs}
    kept = (item for item in own if item["mountPath"] not in taken)
    return [dict(item) for item in (*kept, *theirs)]


def resources(own: Mapping[str, Any], template: Template, sized: Iterable[str]) -> dict[str, Any]:
    """Merge requests and limits. Theirs win, except for the resources that are `sized` from `backend.trainer`.

    If they set a limit without a request, our request is dropped, because it could exceed their limit. A limit of ours
    that their request exceeds is dropped. A request for devices is also their limit, without which no pod may have it.
    """
    given = template.get("resources", {})
    theirs = {
        side: {name: amount for name, amount in given.get(side, {}).items() if name not in sized}
        for side in ("requests", "limits")
    }
    requests = {name: amount for name, amount in own.get("requests", {}).items() if name not in theirs["limits"]}
    exceeded = exceeding(theirs["requests"], own.get("limits", {}))
    limits = {name: most for name, most in own.get("limits", {}).items() if name not in exceeded}
    requests |= theirs["requests"]
    implied = {name: amount for name, amount in requests.items() if has_equal_sides(name)}
    merged = {"requests": requests, "limits": {**implied, **limits, **theirs["limits"]}}
    claims = {"claims": [dict(claim) for claim in given["claims"]]} if given.get("claims") else {}
    return {**{side: amounts for side, amounts in merged.items() if amounts}, **claims}


def asked(container_resources: Mapping[str, Any]) -> dict[str, Any]:
    """Return the requests of a container. A limit without a request is also a request.

    Only the API server checks the `resources` of init containers, so a side of a wrong type counts as absent.
    """
    return {**mapping(container_resources, "limits"), **mapping(container_resources, "requests")}


def _is_ours(path: str) -> bool:
    return any(f"{normpath(path)}/".startswith(f"{folder}/") for folder in OWN_FOLDERS)
