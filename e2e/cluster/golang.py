"""The go command, and the pins that stand in a module's go.mod."""

from __future__ import annotations

import json
import os
import re
import subprocess
from pathlib import Path

from e2e.cluster.errors import ClusterError

# One program without libc for every machine, and never another toolchain or module than the pinned ones.
ENVIRONMENT = {"CGO_ENABLED": "0", "GOFLAGS": "-mod=readonly"}
NICE = ("nice", "-n", "19")


def pin(module: Path, name: str) -> str:
    """The version that the module's go.mod asks for."""
    found = re.search(rf"^(?:require)?\s*{re.escape(name)} (v\S+)", (module / "go.mod").read_text(), re.MULTILINE)
    if found is None:
        raise ClusterError(f"{module / 'go.mod'} does not pin {name}")
    return found[1]


def version(module: Path) -> str:
    """The version of go that works for this module; go says itself when it is too old."""
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
    command = ["go", *arguments]
    try:
        ended = subprocess.run(
            [*(NICE if nice else ()), *command],
            cwd=module,
            env={**os.environ, **ENVIRONMENT},
            capture_output=True,
            text=True,
            check=False,
        )
    except FileNotFoundError:
        raise ClusterError(
            "go is not installed: the control plane is built with it. Install it from https://go.dev/dl, "
            "or set KUBECONFIG to a cluster that runs"
        ) from None
    if ended.returncode != 0:
        said = ended.stderr.strip() or ended.stdout.strip()
        raise ClusterError(f"{' '.join(command[:3])} failed in {module}: {said}")
    return ended.stdout
