"""Runs Helm on our chart as users do: for one cluster, or without a cluster."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from testkit.cluster import binaries
from testkit.cluster.errors import ClusterError
from testkit.cluster.node import programs

ROOT = Path(__file__).parents[2]
CHART = "helm/trainwright"
RELEASE = "trainwright"


@dataclass(frozen=True)
class Helm:
    """`helm("list")` returns the output, or raises with the error output."""

    kubeconfig: Path | None = None
    """None: it only renders."""
    root: Path = ROOT
    """The checkout; CHART is relative to it."""

    def __call__(self, *arguments: str) -> str:
        ended = self.run(*arguments)
        if ended.returncode != 0:
            raise ClusterError(f"helm {' '.join(arguments)}: {ended.stderr.strip() or ended.stdout.strip()}")
        return ended.stdout

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """The same, but returns the exit code and the warnings."""
        command = [str(programs.helm().path()), *arguments]
        environment = {**os.environ, "KUBECONFIG": str(self.kubeconfig or os.devnull)}
        return subprocess.run(command, cwd=self.root, env=environment, capture_output=True, text=True, check=False)

    def rendered(self, *values: str) -> str:
        """The rendered chart for the tests' Kubernetes. A helm built from source defaults to an old version."""
        version = f"--kube-version={binaries.kubernetes_version()}"
        return self("template", RELEASE, CHART, "--namespace=trainwright", version, *self._tests(values), *values)

    def _tests(self, values: tuple[str, ...]) -> tuple[str, ...]:
        return () if any("templates/tests/" in value for value in values) else ("--skip-tests",)
