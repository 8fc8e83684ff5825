"""Our chart as the one release of the cluster, in a namespace that enforces *restricted*."""

from __future__ import annotations

import subprocess
import tarfile
from pathlib import Path

from testkit.cluster.chart import CHART, RELEASE, ROOT
from testkit.full_cluster.full_cluster import FullCluster

NAMESPACE = "trainwright"
NAMESPACE_MANIFEST = "operator/manifests/namespace.yaml"
KEYS_ALLOWED = "--set=policy.inlineKeys=true"
"""Tests put keys into the files of jobs, and then search for them everywhere else."""
OPERATORS = "app.kubernetes.io/component=operator"


def install(full_cluster: FullCluster, *values: str, chart: str = CHART) -> None:
    """Install or upgrade with exactly these values. Return when the pods are ready."""
    root = full_cluster.helm.root
    full_cluster.kubectl("apply", "-f", str(root / NAMESPACE_MANIFEST))
    registry = [f"--set=registry={full_cluster.registry}"] if full_cluster.registry else []
    flags = (f"--namespace={NAMESPACE}", "--reset-values", "--wait", "--timeout=180s")
    full_cluster.helm("upgrade", "--install", *flags, RELEASE, chart, *registry, *values)


def chart_of(commit: str, folder: Path) -> str:
    """Write the chart of a commit of this checkout into the folder, and return its path."""
    archive = folder / "chart.tar"
    subprocess.run(["git", "archive", f"--output={archive}", commit, CHART], cwd=ROOT, check=True)
    with tarfile.open(archive) as files:
        files.extractall(folder, filter="data")
    return str(folder / CHART)


def roll_back(full_cluster: FullCluster) -> None:
    """Go back to the revision before. Return when the pods are ready."""
    full_cluster.helm("rollback", f"--namespace={NAMESPACE}", "--wait", "--timeout=180s", RELEASE)


def uninstall(full_cluster: FullCluster) -> None:
    """Uninstall the release. Return when its pods are gone."""
    full_cluster.helm("uninstall", f"--namespace={NAMESPACE}", "--wait", "--timeout=180s", RELEASE)
    full_cluster.kubectl("wait", f"-n={NAMESPACE}", "--for=delete", "pod", f"-l={OPERATORS}", "--timeout=120s")
