"""Checks of the requests and limits in `podTemplate` that Kubernetes would make only when a pod is created."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainwright_api.problems import Problem
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.kubernetes import PodTemplate, Quantity, Resources, RoleTemplate
from trainwright_api.resource.quantity import amount, devices, exceeding, has_equal_sides, is_extended

_NO_DEVICES = "the preprocess stage has no devices: remove it, or move it to podTemplate.worker"


def resource_problems(spec: TrainingJobSpec) -> Iterator[Problem]:
    """Yield a problem for each request above its limit, or of devices below it, for each part of a device, and for each
    device of the preprocess stage.
    """
    template = spec.pod_template or PodTemplate()
    for path, part in template.parts():
        if part.resources is not None:
            requests, limits = part.resources.requests or {}, part.resources.limits or {}
            yield from _above(f"{path}.resources", requests, limits)
            yield from _below(f"{path}.resources", requests, limits)
            for side, amounts in (("requests", requests), ("limits", limits)):
                yield from _parts_of_devices(f"{path}.resources.{side}", amounts)
    yield from _of_preprocessing(template.preprocess or RoleTemplate())


def _above(path: str, requests: Mapping[str, Quantity], limits: Mapping[str, Quantity]) -> Iterator[Problem]:
    above = exceeding(requests, limits)
    for name in (name for name in requests if name in above):
        found = f"found {requests[name]}: lower it, or raise limits.{name}"
        yield Problem(f"{path}.requests.{name}", f"expected at most the limit of {limits[name]}, {found}")


def _below(path: str, requests: Mapping[str, Quantity], limits: Mapping[str, Quantity]) -> Iterator[Problem]:
    """Kubernetes does not overcommit devices and huge pages."""
    below = exceeding(limits, requests)
    for name in (name for name in requests if name in below and has_equal_sides(name)):
        words = f"expected the limit of {limits[name]}, found {requests[name]}: remove the request"
        yield Problem(f"{path}.requests.{name}", words)


def _parts_of_devices(path: str, amounts: Mapping[str, Quantity]) -> Iterator[Problem]:
    """Kubernetes has devices, such as GPUs, in whole numbers only."""
    for name, found in amounts.items():
        if is_extended(name) and not amount(found).is_integer():
            yield Problem(f"{path}.{name}", f"expected a whole number of devices, found {found}")


def _of_preprocessing(part: RoleTemplate) -> Iterator[Problem]:
    """Yield a problem for each device: the stage exists so that its pods hold none."""
    path = "podTemplate.preprocess"
    resources = part.resources or Resources()
    if resources.claims:
        yield Problem(f"{path}.resources.claims", _NO_DEVICES)
    yield from _devices(f"{path}.resources", {"requests": resources.requests, "limits": resources.limits})
    for position, container in enumerate(part.init_containers or ()):
        yield from _devices(
            f"{path}.initContainers[{position}].resources", (container.model_extra or {}).get("resources")
        )


def _devices(path: str, resources: object) -> Iterator[Problem]:
    """Yield a problem for each device in `resources`, which may be of any type in an init container."""
    for side in ("requests", "limits"):
        amounts = resources.get(side) if isinstance(resources, Mapping) else None
        for name in devices(amounts) if isinstance(amounts, Mapping) else ():
            yield Problem(f"{path}.{side}.{name}", _NO_DEVICES)
