"""kubectl for one cluster, independent of the user's own kubectl cache."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from testkit.cluster.errors import ClusterError


@dataclass(frozen=True)
class Kubectl:
    """`kubectl("get", "pods")` returns the output, or raises with the error output."""

    program: Path
    kubeconfig: Path
    memory: Path
    """The cache of API discovery. Other clusters reuse ports, so the user's own cache would be wrong."""

    @property
    def environment(self) -> Mapping[str, str]:
        """For a shell, or for a user's programs that call kubectl."""
        return {"KUBECONFIG": str(self.kubeconfig), "KUBECACHEDIR": str(self.memory), "KUBERC": "off"}

    def __call__(self, *arguments: str, stdin: str | None = None) -> str:
        ended = self.run(*arguments, stdin=stdin)
        if ended.returncode != 0:
            raise ClusterError(f"kubectl {' '.join(arguments)}: {ended.stderr.strip() or ended.stdout.strip()}")
        return ended.stdout

    def run(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """The same, but returns the exit code and the warnings."""
        return subprocess.run(
            [str(self.program), *arguments],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            check=False,
        )
