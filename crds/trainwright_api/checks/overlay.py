"""Checks that `podTemplate` uses no names and paths of the operator, and that it mounts only its own volumes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from posixpath import normpath

from trainwright_api.checks.path_access import lies_under
from trainwright_api.problems import Problem, nearest
from trainwright_api.resource.environment import OWN_FOLDERS, OWN_VARIABLES, OWN_VOLUMES
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.kubernetes import EnvironmentVariable, PodTemplate, Volume, VolumeMount


def overlay_problems(spec: TrainingJobSpec) -> Iterator[Problem]:
    """Yield a problem for every reserved name and path, and for every mount of a volume that does not exist."""
    template = spec.pod_template or PodTemplate()
    volumes = template.volumes or []
    yield from _volumes(volumes)
    yield from _variables(template.env or [])
    yield from _mounts(template.volume_mounts or [], [volume.name for volume in volumes])


def _volumes(volumes: Sequence[Volume]) -> Iterator[Problem]:
    for position, volume in enumerate(volumes):
        if volume.name.startswith(OWN_VOLUMES):
            yield Problem(f"podTemplate.volumes[{position}].name", _taken(volume.name, OWN_VOLUMES))


def _variables(variables: Sequence[EnvironmentVariable]) -> Iterator[Problem]:
    for position, variable in enumerate(variables):
        if variable.name.startswith(OWN_VARIABLES):
            yield Problem(f"podTemplate.env[{position}].name", _taken(variable.name, OWN_VARIABLES))


def _taken(name: str, prefix: str) -> str:
    return f"{name!r} is the operator's own: choose a name that does not begin with {prefix}"


def _mounts(mounts: Sequence[VolumeMount], volumes: Sequence[str]) -> Iterator[Problem]:
    for position, mount in enumerate(mounts):
        where = f"podTemplate.volumeMounts[{position}]"
        if mount.name not in volumes:
            yield Problem(f"{where}.name", _no_volume(mount.name, volumes))
        path = normpath(mount.mount_path)
        own = next((folder for folder in OWN_FOLDERS if lies_under(path, folder)), None)
        if own:
            yield Problem(
                f"{where}.mountPath", f"{mount.mount_path!r} is the operator's own: choose a path outside {own}"
            )


def _no_volume(name: str, volumes: Sequence[str]) -> str:
    near = nearest(name, volumes)
    found = f"{name!r} is no volume of podTemplate.volumes"
    return f"{found}: did you mean {near!r}?" if near else f"{found}: add it there"
