"""Checks that pods can reach the locations of a job: any URI, but a path only on a volume that the pods mount."""

from __future__ import annotations

from collections.abc import Iterator
from posixpath import basename, isabs, normpath
from typing import Any

from trainwright_api.locations import S3, is_read_only, scheme_of
from trainwright_api.problems import Problem
from trainwright_api.resource.environment import CREDENTIALS_FOLDER
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.kubernetes import VolumeMount
from trainwright_api.resource.stages import TRAINING

_SHARED_VOLUMES = frozenset({"persistentVolumeClaim", "nfs", "csi", "azureFile", "cephfs", "glusterfs"})
"""The volume sources that all pods share. hostPath counts as local to a node; other sources are local to a pod."""
_VOLUME = "a path on a volume (podTemplate.volumeMounts)"


def reach_problems(spec: TrainingJobSpec) -> Iterator[Problem]:
    """Yield a problem for every location that pods cannot reach, in the order of a file."""
    yield from _place(spec, "dataset", spec.dataset)
    yield from _place(spec, "model", spec.model)
    yield from _place(spec, "resumeFrom", spec.resume_from)
    yield from _place(spec, "backend.cache_dir", spec.backend.cache_dir, written=True)
    data = spec.dataset or ""
    if spec.backend.cache_dir is None and spec.task in TRAINING and is_read_only(data):
        line = f"missing: nothing is written beside {scheme_of(data)} data. Pods need a URI, or {_VOLUME}"
        yield Problem("backend.cache_dir", line)
    yield from _credentials(spec)
    if spec.output is None:
        yield Problem("output", f"missing: pods need a URI, as in {S3}bucket/runs, or {_VOLUME}")
    yield from _place(spec, "output", spec.output, written=True)


def is_shared(location: str, spec: TrainingJobSpec) -> bool:
    """Return True if all pods of a job see the same data at the location: a URI, or a path on a shared volume."""
    if _is_uri(location):
        return True
    mount = _mount_of(location.removeprefix("file://"), spec)
    if mount is None or mount.sub_path_expr is not None:
        return False
    volumes = (spec.pod_template.volumes if spec.pod_template else None) or []
    sources = {source for volume in volumes if volume.name == mount.name for source in volume.model_extra or ()}
    return bool(sources & _SHARED_VOLUMES)


def lies_under(path: str, folder: str) -> bool:
    """Return True if an absolute path is the folder or lies below it, after `..` is resolved."""
    inner, outer = normpath(path), normpath(folder).rstrip("/")
    return inner == outer or inner.startswith(f"{outer}/")


def _place(spec: TrainingJobSpec, where: str, location: str | None, *, written: bool = False) -> Iterator[Problem]:
    if location is None or _is_uri(location):
        return
    path = location.removeprefix("file://")
    if not isabs(path):
        yield Problem(where, f"pods do not see {location!r}: give a URI, as in {S3}bucket/data, or {_VOLUME}")
        return
    mount = _mount_of(path, spec)
    if mount is None:
        yield Problem(where, f"pods do not see {location!r}: mount a volume there ({_mounts_now(spec)}), or give a URI")
    elif written and mount.read_only:
        yield Problem(where, f"{location!r} is to be written, but {mount.mount_path} is mounted with readOnly: true")


def _is_uri(location: str) -> bool:
    return scheme_of(location) not in ("", "file://")


def _mounts(spec: TrainingJobSpec) -> list[VolumeMount]:
    return (spec.pod_template.volume_mounts if spec.pod_template else None) or []


def _mount_of(path: str, spec: TrainingJobSpec) -> VolumeMount | None:
    """Return the innermost mount that contains the path."""
    holding = [mount for mount in _mounts(spec) if lies_under(path, mount.mount_path)]
    return max(holding, key=lambda mount: len(normpath(mount.mount_path)), default=None)


def _mounts_now(spec: TrainingJobSpec) -> str:
    paths = [mount.mount_path for mount in _mounts(spec)[:5]]
    return f"podTemplate.volumeMounts has {', '.join(paths)}" if paths else "podTemplate.volumeMounts"


def _credentials(spec: TrainingJobSpec) -> Iterator[Problem]:
    """Check that every path in the credentials is a file of the mounted Secret."""
    paths = {where: value for where, value in _keys(spec) if isinstance(value, str)}
    for where, path in paths.items():
        if not lies_under(path, CREDENTIALS_FOLDER) or normpath(path) == CREDENTIALS_FOLDER:
            yield Problem(
                where, _unseen_file(path, "keys" if spec.credentials is None else spec.credentials.secret_name)
            )
    if paths and spec.credentials is None:
        yield Problem("credentials", f"missing: {next(iter(paths))} is a file, so name its Secret in secretName")


def _unseen_file(path: str, secret: str) -> str:
    """The message says what to write instead. It repeats no value but the path of a JSON file: a user may have pasted
    the keys in place of a path."""
    file = path if path.endswith(".json") else "keys.json"
    return (
        f"pods do not see this file: put it into the Secret {secret} of credentials.secretName (kubectl create secret "
        f"generic {secret} --from-file={file}), and write {CREDENTIALS_FOLDER}/{basename(file)} here"
    )


def _keys(spec: TrainingJobSpec) -> Iterator[tuple[str, Any]]:
    yield "backend.cache_credentials", spec.backend.cache_credentials
    for name, value in spec.backend.credentials or ():
        yield f"backend.credentials.{name}", value
