"""The objects of a kustomization, built and applied by kubectl."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from testkit.cluster import crds
from testkit.cluster.kubectl import Kubectl


def objects(kubectl: Kubectl, folder: Path, namespace: str | None = None) -> Iterator[Mapping[str, Any]]:
    """Read the output of kustomize by kubectl, which writes it as JSON, one object after the other.

    `namespace`: for a kustomization that names none.
    """
    made, where = kubectl("kustomize", str(folder)), () if namespace is None else (f"-n={namespace}",)
    text = kubectl("create", "--dry-run=client", "--validate=false", "-o=json", *where, "-f=-", stdin=made)
    decoder, at = json.JSONDecoder(), 0
    while at < len(text.rstrip()):
        one, at = decoder.raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
        yield one


def apply(kubectl: Kubectl, found: Sequence[Mapping[str, Any]], *options: str) -> None:
    """Apply objects server-side, and return when the definitions among them are served."""
    whole = json.dumps({"apiVersion": "v1", "kind": "List", "items": found})
    kubectl("apply", "--server-side", *options, "-f", "-", stdin=whole)
    kinds = {one["metadata"]["name"] for one in found if one["kind"] == "CustomResourceDefinition"}
    crds.wait_for(kubectl, kinds)
