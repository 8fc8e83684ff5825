"""Our images: their names and their inputs."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from testkit.cluster.images import base

ROOT = Path(__file__).parents[3]
PACKAGES = (
    *("crds/trainwright_api", "operator/trainwright_operator"),
    *("trainer_image/trainwright", "trainer_image/trainwright_trainer"),
)
FILES = (".dockerignore", "pyproject.toml", "uv.lock", "README.md", "LICENSE", "trainer_image/build_horovod.py")


@dataclass(frozen=True)
class Ours:
    repository: str
    dockerfile: str
    stages: tuple[str, ...]
    """The stages of the Dockerfile that no layer of the image stands on, and that are slow to build."""
    variant: str = ""
    """The end of the tag."""
    arguments: tuple[str, ...] = ()
    """Build arguments."""

    @property
    def name(self) -> str:
        """The full name that Kubernetes derives from the short name in a manifest."""
        return f"docker.io/library/{self.repository}:{version()}{self.variant}"

    def name_of(self, stage: str) -> str:
        """The name of a stage of the Dockerfile."""
        return f"localhost/{self.repository}-{stage}"

    @property
    def inputs(self) -> str:
        """Return a tag that depends on all inputs of the image. It begins with a hash of the libraries."""
        made = hashlib.sha256(base.digest().encode())
        for file in (ROOT / self.dockerfile, *_sources()):
            made.update(str(file.relative_to(ROOT)).encode() + hashlib.sha256(file.read_bytes()).digest())
        return f"{self.libraries}-{made.hexdigest()[:16]}"

    @property
    def libraries(self) -> str:
        """Return a tag that depends on the inputs of the large layers."""
        made = hashlib.sha256(base.digest().encode())
        for file in (self.dockerfile, "uv.lock", "trainer_image/build_horovod.py"):
            made.update((ROOT / file).read_bytes())
        return made.hexdigest()[:16]


OPERATOR = Ours("trainwright-operator", "Dockerfile.operator", ("lock",))
TRAINER = Ours("trainwright", "Dockerfile.gpu", ("lock", "horovod"))
OURS = (OPERATOR, TRAINER)
MODIN = replace(TRAINER, variant="-modin", arguments=("MODIN=1",))
"""The trainer with Modin. Only its own test builds it."""


def version() -> str:
    return str(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"])


def _sources() -> Iterator[Path]:
    yield from (ROOT / name for name in FILES)
    for package in PACKAGES:
        yield from sorted(file for file in (ROOT / package).rglob("*") if file.is_file() and not _is_cache(file))


def _is_cache(file: Path) -> bool:
    return "__pycache__" in file.parts
