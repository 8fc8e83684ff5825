"""Whether the operator and this image can work together: checked before anything is read."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from importlib.metadata import PackageNotFoundError, version

from trainwright_api.problems import Mistakes, Problem
from trainwright_api.resource.environment import CONTRACT_VERSION
from trainwright_trainer.job.pod import Pod


def refuse_skew(pod: Pod, *, installed: Callable[[str], str] = version) -> None:
    """Raises `Mistakes` for versions that cannot work together. What the operator does not tell is not judged."""
    problems = [*_contract(pod), *_ray(pod, installed)]
    if problems:
        raise Mistakes(problems)


def _contract(pod: Pod) -> Iterator[Problem]:
    if pod.contract is not None and pod.contract != str(CONTRACT_VERSION):
        found = f"the image speaks contract {CONTRACT_VERSION}, the operator {pod.contract}"
        yield Problem("image", f"{found}: use an image of the operator's version")


def _ray(pod: Pod, installed: Callable[[str], str]) -> Iterator[Problem]:
    """Versions that differ in the last number alone speak the same."""
    if pod.ray_version is None:
        return
    try:
        found = installed("ray")
    except PackageNotFoundError:
        yield Problem("image", "the image holds no Ray, which backend.type ray needs")
        return
    if _minor(found) != _minor(pod.ray_version):
        yield Problem("rayVersion", f"is {pod.ray_version}, the image holds Ray {found}: give rayVersion: {found}")


def _minor(text: str) -> list[str]:
    return text.split(".")[:2]
