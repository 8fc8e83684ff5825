"""Merges `spec.podTemplate` into the operator's pods. The operator's value wins where the job needs it to run.

In this module, "ours" are the operator's values and "theirs" those of `spec.podTemplate`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from posixpath import normpath
from typing import Any

from trainwright_api.resource.environment import OWN_FOLDERS, OWN_VARIABLES, OWN_VOLUMES

SCHEDULING = ("nodeSelector", "affinity", "priorityClassName", "serviceAccountName", "imagePullSecrets")
"""Fields that are copied unchanged, because the operator sets none of them."""

Template = Mapping[str, Any]
Items = Sequence[Mapping[str, Any]]


def scheduling(template: Template) -> dict[str, Any]:
    """Return the fields that set the nodes, the priority, the service account and the pull secrets of the pods."""
    return {key: template[key] for key in SCHEDULING if template.get(key)}


def tolerations(own: Items, template: Template) -> list[dict[str, Any]]:
    return [dict(item) for item in (*own, *template.get("tolerations", ()))]


def metadata(own: Mapping[str, str], template: Template) -> dict[str, Any]:
    """Merge labels and annotations. Our labels always win, because the operator finds pods by them."""
    found: dict[str, Any] = {"labels": {**template.get("labels", {}), **own}}
    if template.get("annotations"):
        found["annotations"] = dict(template["annotations"])
    return found


def security_context(own: Mapping[str, Any], template: Template) -> dict[str, Any]:
    return {**own, **template.get("securityContext", {})}


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

    If they set a limit without a request, our request is dropped, because it could exceed their limit.
    """
    given = template.get("resources", {})
    theirs = {
        side: {name: amount for name, amount in given.get(side, {}).items() if name not in sized}
        for side in ("requests", "limits")
    }
    requests = {name: amount for name, amount in own.get("requests", {}).items() if name not in theirs["limits"]}
    merged = {
        "requests": {**requests, **theirs["requests"]},
        "limits": {**own.get("limits", {}), **theirs["limits"]},
    }
    return {side: amounts for side, amounts in merged.items() if amounts}


def _is_ours(path: str) -> bool:
    return any(f"{normpath(path)}/".startswith(f"{folder}/") for folder in OWN_FOLDERS)
