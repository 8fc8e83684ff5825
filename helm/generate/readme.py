"""The chart's README: the installation, and a table of its values."""

from __future__ import annotations

import json

from helm.generate.values import Value

_HEAD = """\
# Trainwright's chart

Made from `values.yaml` by `make generate`; change that, not this.

```
helm install trainwright helm/trainwright --namespace trainwright --create-namespace
kubectl apply -f examples/kubernetes/local.yaml
kubectl get tj --watch
```
It installs the definition of `TrainingJob`, the operator, its roles and its webhook. Jobs with `backend.type: ray` need
KubeRay 1.6 or later beside it. Nothing in it is random: the operator makes its certificates itself, so that what is
rendered today is what is rendered tomorrow. Upgrades, Argo CD, and an operator for single namespaces:
[docs/operations.md](../../docs/operations.md). A value that is not known is refused.

| value | default | what it does |
|---|---|---|
"""


def of(values: Value) -> str:
    """Return the page as Markdown."""
    return _HEAD + "".join(_row(value) for value in values.leaves())


def _row(value: Value) -> str:
    default = json.dumps(value.default, ensure_ascii=False)
    words = value.rules.get("enum", ())
    choices = f" One of {', '.join(words)}." if words else ""
    return f"| `{value.name}` | `{default}` | {value.description}{choices} |\n"
