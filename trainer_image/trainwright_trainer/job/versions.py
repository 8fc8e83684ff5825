"""The versions of the software, and the check that the operator and this image are compatible."""

from __future__ import annotations

import hashlib
import platform
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from trainwright_api.problems import Mistakes, Problem
from trainwright_api.resource.environment import CONTRACT_VERSION
from trainwright_trainer.job.pod import Pod


def versions() -> dict[str, str]:
    """The versions of the software that computes a run. For people only: no decision depends on them."""
    return {"trainwright": version("trainwright"), "torch": version("torch"), "python": platform.python_version()}


@cache
def code_digest() -> str:
    """SHA-256 of the source of the trainer and of the contract, as it is installed here."""
    found = hashlib.sha256()
    for package in ("trainwright_api", "trainwright_trainer"):
        root = Path(next(iter(import_module(package).__path__)))
        for path in sorted(root.rglob("*.py")):
            found.update(f"{package}/{path.relative_to(root)}\0".encode() + path.read_bytes())
    return found.hexdigest()


def refuse_skew(pod: Pod, *, installed: Callable[[str], str] = version) -> None:
    """Raise `Mistakes` for incompatible versions. A version that the operator does not send is not checked."""
    problems = [*_contract(pod), *_ray(pod, installed)]
    if problems:
        raise Mistakes(problems)


def _contract(pod: Pod) -> Iterator[Problem]:
    if pod.contract is not None and pod.contract != str(CONTRACT_VERSION):
        found = f"the image speaks contract {CONTRACT_VERSION}, the operator {pod.contract}"
        yield Problem("image", f"{found}: use an image of the operator's version")


def _ray(pod: Pod, installed: Callable[[str], str]) -> Iterator[Problem]:
    """Versions of Ray are compatible if the first two numbers are equal."""
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
