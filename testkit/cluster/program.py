"""A program of a pinned Go module: built from source once into a cache folder, and again only if a pin changes."""

from __future__ import annotations

import hashlib
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from testkit.cluster import golang, locks
from testkit.cluster.errors import ClusterError


@dataclass(frozen=True)
class Program:
    """The result of `go build` for one package. The first of its names is the file, the others are links to it."""

    title: str
    """For the line with the build time: `Kubernetes v1.34.4`."""
    module: Path
    names: tuple[str, ...]
    package: str = "."
    flags: str = "-ldflags=-s -w"

    def folder(self) -> Path:
        """The folder with all of its names. The first process builds it; others wait."""
        cache = cache_folder() / self.names[0]
        built = cache / self._digest()
        with locks.locked(cache / "lock"):
            if not built.is_dir():
                self._build(built)
        return built

    def path(self) -> Path:
        return self.folder() / self.names[0]

    def _digest(self) -> str:
        """One hash over everything that the program depends on."""
        inputs = f"{golang.version(self.module)} {self.package} {self.flags} {self.names}"
        digest = hashlib.sha256(inputs.encode())
        for path in _sources(self.module):
            digest.update(path.read_bytes())
        return digest.hexdigest()[:16]

    def _build(self, built: Path) -> None:
        _say(f"building {self.title} from source into {built}; on two cores this may take minutes, once")
        started = time.monotonic()
        folder = Path(tempfile.mkdtemp(prefix=".building-", dir=built.parent))
        try:
            golang.build(self.module, self.package, self.flags, folder / self.names[0])
            for name in self.names[1:]:
                (folder / name).symlink_to(self.names[0])
            folder.rename(built)
        finally:
            shutil.rmtree(folder, ignore_errors=True)
        _say(f"built {self.title} in {time.monotonic() - started:.0f} s")


def build(*wanted: Callable[[], Program]) -> int:
    """Build these programs; return the exit code of a command, which prints the reason of a failure."""
    try:
        for one in wanted:
            one().folder()
    except ClusterError as problem:
        _say(str(problem))
        return 1
    return 0


def cache_folder() -> Path:
    return Path(os.environ.get("TRAINWRIGHT_CACHE") or Path.home() / ".cache" / "trainwright").absolute()


def _sources(module: Path) -> Iterator[Path]:
    yield module / "go.mod"
    yield module / "go.sum"
    yield from sorted(module.rglob("*.go"))


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)
