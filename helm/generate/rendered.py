"""The chart as plain manifests, for who installs without Helm, and as what tests compare with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from e2e.cluster.chart import Helm

_HEADER = "# Made from helm/trainwright by `make generate`. Change that, not this.\n"

_NO_DEFINITION = "--set=crds.enabled=false"
MANIFESTS: Mapping[str, Sequence[str]] = {
    "operator/manifests/clusterwide.yaml": (_NO_DEFINITION,),
    "operator/manifests/namespaced.yaml": (_NO_DEFINITION, "--set=namespaces={team-a}"),
    "tests/helm/everything.yaml": (_NO_DEFINITION, "--values=tests/helm/everything.values.yaml"),
}
"""The manifests, and what Helm is told for each."""


def manifest(root: Path, path: str) -> str:
    """One of them, from the chart below `root`."""
    return _HEADER + Helm(root=root).rendered(*MANIFESTS[path])
