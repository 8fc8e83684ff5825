"""The chart's README: the installation, and a table of its values."""

from __future__ import annotations

import json

from helm.generate.values import Value

_HEAD = """\
# Trainwright's chart

`make generate` writes this page from `values.yaml`.

```
helm install trainwright helm/trainwright --namespace trainwright --create-namespace \\
  --set registry=registry.example.com/ml
kubectl apply -f examples/kubernetes/local.yaml
kubectl get tj --watch
```
No image is published yet: build both and push them to your registry first, as
[docs/operations.md](../../docs/operations.md#images) describes. `registry` is its address.

The chart installs the CRD of `TrainingJob`, the operator, its roles and its webhook. Jobs with `backend.type: ray` also
need KubeRay 1.6 or later. The rendered manifests contain no random values, because the operator creates its
certificates itself. The chart refuses unknown values. [docs/operations.md](../../docs/operations.md) describes
upgrades, Argo CD, and an operator for single namespaces.

| value | default | description |
|---|---|---|
"""


def of(values: Value) -> str:
    """Return the page as Markdown."""
    return _HEAD + "".join(_row(value) for value in values.leaves())


def _row(value: Value) -> str:
    default = json.dumps(value.default, ensure_ascii=False)
    # A word such as true may be written with and without quotes.
    words = dict.fromkeys(json.dumps(choice).strip('"') for choice in value.rules.get("enum", ()))
    choices = f" One of {', '.join(words)}." if words else ""
    return f"| `{value.name}` | `{default}` | {value.description}{choices} |\n"
