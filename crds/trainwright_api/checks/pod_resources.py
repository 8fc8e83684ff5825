"""Checks of the requests and limits in `podTemplate` that Kubernetes would make only when a pod is created."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from trainwright_api.problems import Problem
from trainwright_api.resource.job import TrainingJobSpec
from trainwright_api.resource.kubernetes import PodTemplate, Quantity
from trainwright_api.resource.quantity import amount, exceeding, has_equal_sides, is_extended


def resource_problems(spec: TrainingJobSpec) -> Iterator[Problem]:
    """Yield a problem for each request above its limit, or of devices below it, and for each part of a device."""
    for path, part in (spec.pod_template or PodTemplate()).parts():
        if part.resources is not None:
            requests, limits = part.resources.requests or {}, part.resources.limits or {}
            yield from _above(f"{path}.resources", requests, limits)
            yield from _below(f"{path}.resources", requests, limits)
            for side, amounts in (("requests", requests), ("limits", limits)):
                yield from _parts_of_devices(f"{path}.resources.{side}", amounts)


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
