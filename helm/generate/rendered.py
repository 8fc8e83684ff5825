"""The chart as plain manifests, for an installation without Helm and for the tests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from testkit.cluster.chart import Helm

_HEADER = "# Made from helm/trainwright by `make generate`. Change that, not this.\n"

_NO_DEFINITION = "--set=crds.enabled=false"
MANIFESTS: Mapping[str, Sequence[str]] = {
    "operator/manifests/clusterwide.yaml": (_NO_DEFINITION,),
    "operator/manifests/namespaced.yaml": (_NO_DEFINITION, "--set=namespaces={team-a}"),
    "tests/helm/everything.yaml": (_NO_DEFINITION, "--values=tests/helm/everything.values.yaml"),
}
"""The manifests, and the arguments of Helm for each."""


def manifest(root: Path, path: str) -> str:
    """Render one manifest from the chart below `root`."""
    return _HEADER + Helm(root=root).rendered(*MANIFESTS[path])
