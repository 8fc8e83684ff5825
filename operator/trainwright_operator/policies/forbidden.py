"""The rules of the administrator's policy for a job. The webhook and the reconciler report it in the same words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from trainwright_api.problems import Mistakes, Problem
from trainwright_api.resource.backend import WorkerRange
from trainwright_api.resource.canonical import canonical
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.kubernetes import RoleTemplate
from trainwright_api.resource.size import asked_workers, search_of, workers_per_trial
from trainwright_api.resource.stages import backend_of_pods
from trainwright_api.resource.status import Resolved
from trainwright_operator.children.secret import CACHE, dictionaries
from trainwright_operator.model.observed import Held
from trainwright_operator.model.reading import mapping, mappings
from trainwright_operator.policies import gpus
from trainwright_operator.policies.sizing import gpu_share
from trainwright_operator.policy import ANY, Policy

_UNPRIVILEGED = ("runAsUser", "runAsGroup", "runAsNonRoot", "fsGroup", "fsGroupChangePolicy", "supplementalGroups")
"""The keys of a pod's security context that grant nothing, unless they name the user or the group 0."""

_SELINUX_TYPES = ("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")
"""The types of SELinux that Pod Security *restricted* allows."""
_APPARMOR = "container.apparmor.security.beta.kubernetes.io/"
"""The annotation that set the profile before the field `appArmorProfile`."""

Images = tuple[str, ...]


def refusal(spec: TrainingJobSpec, policy: Policy, images: Images, name: str, resolved: Resolved | None = None) -> str:
    """Return what is forbidden in the job `name`, as `validate` prints mistakes; "" if nothing is.

    `images` are the chart's images of jobs. Before the job is resolved, its smallest size counts.
    """
    problems = tuple(forbidden(spec, policy, images, resolved))
    return Mistakes(problems).render(name) if problems else ""


def forbidden(
    spec: TrainingJobSpec, policy: Policy, images: Images, resolved: Resolved | None = None
) -> Iterator[Problem]:
    yield from _keys(spec, policy)
    if spec.image is not None and spec.image not in images:
        yield from _image("image", spec.image, policy)
    for path, part in spec.pod_template.parts() if spec.pod_template else ():
        yield from _template(path, part, policy)
        yield from _init_containers(path, part, policy, images)
    if policy.most_workers or policy.most_gpus:
        yield from _size(size_of(spec, resolved), policy, is_search=search_of(spec) is not None)


def size_of(spec: TrainingJobSpec, resolved: Resolved | None) -> Held:
    """Return the size of the job, or its smallest one while nothing is resolved."""
    found = resolved if resolved is not None and resolved.workers is not None else _least(spec)
    known = found.model_dump(mode="json", by_alias=True, exclude_none=True)
    return Held(found.workers or 1, gpus.held(canonical(spec), known))


def _least(spec: TrainingJobSpec) -> Resolved:
    asked = asked_workers(spec)
    workers = asked.min if isinstance(asked, WorkerRange) else asked or workers_per_trial(spec)
    is_alone = backend_of_pods(spec.task, spec.backend.type) == "local"
    workers, share = (1, 0.0) if is_alone else (workers, gpu_share(spec, ()))
    together = min(spec.workers_per_pod, workers) if isinstance(spec.workers_per_pod, int) else workers
    return Resolved(workers=workers, workers_per_pod=together, gpus=gpus.reserved(workers, together, share))


def _keys(spec: TrainingJobSpec, policy: Policy) -> Iterator[Problem]:
    if policy.inline_keys:
        return
    for name in dictionaries(spec.backend):
        path = f"backend.{name}" if name == CACHE else f"backend.credentials.{name}"
        words = "keys in plain text, which everybody who may view the job can read"
        yield _refused(path, words, "inlineKeys", "put them into a Secret and name it in spec.credentials")


def _template(path: str, template: RoleTemplate, policy: Policy) -> Iterator[Problem]:
    for position, volume in enumerate(template.volumes or []):
        for kind in volume.model_extra or {}:
            if not _allows(policy.volumes, kind):
                where = f"{path}.volumes[{position}].{kind}"
                yield _refused(where, f"a volume of the kind {kind}", "volumes", _allowed(policy.volumes))
    account = template.service_account_name
    if account is not None and not _allows(policy.service_accounts, account):
        words = f"the service account {account}"
        yield _refused(f"{path}.serviceAccountName", words, "serviceAccounts", _allowed(policy.service_accounts))
    for key, found in (("hostNetwork", template.host_network), ("hostIPC", template.host_ipc)):
        if found:
            yield from _host(f"{path}.{key}", key, policy)
    for key, context in (
        ("securityContext", template.security_context),
        ("containerSecurityContext", template.container_security_context),
    ):
        for place, word in _host_settings(context or {}):
            yield from _host(f"{path}.{key}.{place}", word, policy)
    for key, value in (template.annotations or {}).items():
        if key.startswith(_APPARMOR) and value == "unconfined":
            yield from _host(f"{path}.annotations.{key}", "privileged", policy)
    if template.resource_claims and policy.most_gpus:
        words = "devices that are not counted, beside a maximum of GPUs"
        yield _refused(f"{path}.resourceClaims", words, "maxGpusPerJob", "ask for GPUs in backend.trainer")


def _init_containers(path: str, template: RoleTemplate, policy: Policy, images: Images) -> Iterator[Problem]:
    for position, container in enumerate(template.init_containers or []):
        where = f"{path}.initContainers[{position}]"
        if container.image is not None and container.image not in images:
            yield from _image(f"{where}.image", container.image, policy)
        more = container.model_extra or {}
        for place, word in _host_settings(mapping(more.get("securityContext"))):
            yield from _host(f"{where}.securityContext.{place}", word, policy)
        if any("hostPort" in port for port in mappings(more.get("ports"))):
            yield from _host(f"{where}.ports", "hostNetwork", policy)


def _host(path: str, word: str, policy: Policy) -> Iterator[Problem]:
    if word not in policy.host_settings:
        yield _refused(path, word, "hostSettings", _allowed(policy.host_settings))


def _host_settings(context: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the keys of a pod's or a container's security context that *restricted* forbids, and the setting."""
    for key, value in context.items():
        if (
            (key in ("runAsUser", "runAsGroup", "fsGroup") and value == 0 and value is not False)
            or (key == "supplementalGroups" and isinstance(value, list) and 0 in value)
            or (key == "runAsNonRoot" and value is not True)
        ):
            yield key, "root"
        elif key == "capabilities" and mapping(value).get("add"):
            yield f"{key}.add", "capabilities"
        elif key == "capabilities" and "ALL" not in (mapping(value).get("drop", ["ALL"]) or ()):
            yield f"{key}.drop", "capabilities"
        elif not _grants_nothing(key, value):
            yield key, "privileged"


def _grants_nothing(key: str, value: Any) -> bool:
    if key in ("seccompProfile", "appArmorProfile"):
        return mapping(value).get("type") != "Unconfined"
    if key in ("privileged", "allowPrivilegeEscalation"):
        return value is False
    if key == "seLinuxOptions":
        options = mapping(value)
        return not (options.get("user") or options.get("role")) and (options.get("type") or "") in _SELINUX_TYPES
    return key in (*_UNPRIVILEGED, "capabilities", "readOnlyRootFilesystem", "supplementalGroupsPolicy")


def _image(path: str, image: str, policy: Policy) -> Iterator[Problem]:
    if not any(registry == ANY or _lies_in(image, registry) for registry in policy.registries):
        yield _refused(path, f"the image {image}", "registries", _allowed(policy.registries))


def _lies_in(image: str, registry: str) -> bool:
    folder = registry.rstrip("/")
    names = (image, _full(image))
    has_tag = any(name.startswith(f"{folder}:") and "/" not in name.removeprefix(folder) for name in names)
    return has_tag or any(name.startswith((f"{folder}/", f"{folder}@")) for name in names)


def _full(image: str) -> str:
    """Return the image with its registry, as the kubelet completes it: python:3 is docker.io/library/python:3."""
    first, slash, _ = image.partition("/")
    if not slash:
        return f"docker.io/library/{image}"
    return image if "." in first or ":" in first or first == "localhost" else f"docker.io/{image}"


def _size(size: Held, policy: Policy, *, is_search: bool) -> Iterator[Problem]:
    for found, path, words, limits in (
        (
            size.workers,
            "config.hyperopt.executor.max_concurrent_trials" if is_search else "backend.trainer.num_workers",
            "workers",
            {
                "maxWorkersPerJob": policy.max_workers_per_job,
                "maxWorkersPerNamespace": policy.max_workers_per_namespace,
            },
        ),
        (
            size.gpus,
            "config.hyperopt.executor.max_concurrent_trials"
            if is_search
            else "backend.trainer.resources_per_worker.GPU",
            "GPUs",
            {"maxGpusPerJob": policy.max_gpus_per_job, "maxGpusPerNamespace": policy.max_gpus_per_namespace},
        ),
    ):
        name, most = min(limits.items(), key=lambda limit: limit[1] or math.inf)
        if most and found > most:
            yield Problem(
                path, f"{found:,} {words} are more than {most:,}, the maximum of this cluster (policy.{name})"
            )


def _refused(path: str, found: str, setting: str, instead: str) -> Problem:
    return Problem(path, f"{found}: not allowed in this cluster (policy.{setting}); {instead}")


def _allows(allowed: Iterable[str], found: str) -> bool:
    return any(word in (ANY, found) for word in allowed)


def _allowed(words: Iterable[str]) -> str:
    listed = ", ".join(words)
    return f"allowed: {listed}" if listed else "none is allowed"
