"""kubectl against one cluster, untouched by what the user's own kubectl remembers."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from e2e.cluster.errors import ClusterError


@dataclass(frozen=True)
class Kubectl:
    """`kubectl("get", "pods")` answers what it printed, or raises with what it complained of."""

    program: Path
    kubeconfig: Path
    memory: Path
    """What it remembers of the API. Ports are used again by other clusters, so the user's own folder would mislead."""

    @property
    def environment(self) -> Mapping[str, str]:
        """For a shell, or for programs of the user's that call kubectl."""
        return {"KUBECONFIG": str(self.kubeconfig), "KUBECACHEDIR": str(self.memory), "KUBERC": "off"}

    def __call__(self, *arguments: str, stdin: str | None = None) -> str:
        ended = self.run(*arguments, stdin=stdin)
        if ended.returncode != 0:
            raise ClusterError(f"kubectl {' '.join(arguments)}: {ended.stderr.strip() or ended.stdout.strip()}")
        return ended.stdout

    def run(self, *arguments: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        """The same for who wants to see the exit code and the warnings."""
        return subprocess.run(
            [str(self.program), *arguments],
            input=stdin,
            stdin=subprocess.DEVNULL if stdin is None else None,
            env={**os.environ, **self.environment},
            capture_output=True,
            text=True,
            check=False,
        )
