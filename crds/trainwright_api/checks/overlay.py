"""Checks of `podTemplate`: no names and paths of the operator, mounts of its own volumes only, and tolerations that
Kubernetes accepts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from posixpath import normpath

from trainwright_api.checks.path_access import lies_under
from trainwright_api.problems import Problem, nearest
from trainwright_api.resource.environment import OWN_FOLDERS, OWN_VARIABLES, OWN_VOLUMES
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.kubernetes import (
    EnvironmentVariable,
    PodTemplate,
    RoleTemplate,
    Toleration,
    Volume,
    VolumeMount,
)


def overlay_problems(spec: TrainingJobSpec, defaults: Sequence[str] = ()) -> Iterator[Problem]:
    """Yield a problem for every reserved name and path, for every mount or claim of what does not exist, and for every
    toleration that no pod can have. `defaults`: the volumes that all pods but the submitter have by default.
    """
    template = spec.pod_template or PodTemplate()
    for path, part in template.parts():
        yield from _volumes(path, part.volumes or [])
        yield from _variables(path, part.env or [])
        inherited = () if path.endswith(".submitter") else (*defaults, *_names(template))
        yield from _mounts(path, part.volume_mounts or [], [*inherited, *_names(part)])
        yield from _claims(path, part, template)
        yield from _tolerations(path, part.tolerations or [])


def _names(part: RoleTemplate) -> list[str]:
    return [volume.name for volume in part.volumes or ()]


def _volumes(path: str, volumes: Sequence[Volume]) -> Iterator[Problem]:
    for position, volume in enumerate(volumes):
        if volume.name.startswith(OWN_VOLUMES):
            yield Problem(f"{path}.volumes[{position}].name", _taken(volume.name, OWN_VOLUMES))


def _variables(path: str, variables: Sequence[EnvironmentVariable]) -> Iterator[Problem]:
    for position, variable in enumerate(variables):
        if variable.name.startswith(OWN_VARIABLES):
            yield Problem(f"{path}.env[{position}].name", _taken(variable.name, OWN_VARIABLES))


def _claims(path: str, part: RoleTemplate, template: PodTemplate) -> Iterator[Problem]:
    """Yield a problem for each claim of a container that its pod does not have."""
    inherited = template.resource_claims if path in ("podTemplate", "podTemplate.worker") else None
    known = [claim.name for claim in (*(inherited or ()), *(part.resource_claims or ()))]
    for position, claim in enumerate((part.resources.claims if part.resources else None) or []):
        if claim.name not in known:
            words = f"{claim.name!r} is no claim of {path}.resourceClaims: add it there"
            yield Problem(f"{path}.resources.claims[{position}].name", words)


def _tolerations(path: str, tolerations: Sequence[Toleration]) -> Iterator[Problem]:
    """Yield what the API server would refuse only in a pod, which a controller creates later."""
    for position, toleration in enumerate(tolerations):
        where = f"{path}.tolerations[{position}]"
        if toleration.operator == "Exists" and toleration.value:
            yield Problem(f"{where}.value", "does not act with operator Exists: remove it, or use operator Equal")
        if not toleration.key and toleration.operator != "Exists":
            yield Problem(f"{where}.key", "is missing: without it, the operator has to be Exists, for every taint")
        if toleration.toleration_seconds is not None and toleration.effect != "NoExecute":
            yield Problem(
                f"{where}.tolerationSeconds", "acts with effect NoExecute alone: remove it, or set the effect"
            )


def _taken(name: str, prefix: str) -> str:
    return f"{name!r} is the operator's own: choose a name that does not begin with {prefix}"


def _mounts(path: str, mounts: Sequence[VolumeMount], volumes: Sequence[str]) -> Iterator[Problem]:
    for position, mount in enumerate(mounts):
        where = f"{path}.volumeMounts[{position}]"
        if mount.name not in volumes:
            yield Problem(f"{where}.name", _no_volume(mount.name, volumes))
        place = normpath(mount.mount_path)
        own = next((folder for folder in OWN_FOLDERS if lies_under(place, folder)), None)
        if own:
            yield Problem(
                f"{where}.mountPath", f"{mount.mount_path!r} is the operator's own: choose a path outside {own}"
            )


def _no_volume(name: str, volumes: Sequence[str]) -> str:
    near = nearest(name, volumes)
    found = f"{name!r} is no volume of podTemplate.volumes"
    return f"{found}: did you mean {near!r}?" if near else f"{found}: add it there"
