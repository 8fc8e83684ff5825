"""Writes the files that are generated from the chart. With --check it only reports stale files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path

from helm.generate import definition, pod_template, readme, rendered, schema
from helm.generate.values import values
from testkit.cluster.chart import CHART

from trainwright_api.generate.__main__ import main as write_or_check

Files = Mapping[str, Callable[[], str]]


def main(arguments: Sequence[str], root: Path) -> int:
    """Return the exit code: 1 for a stale file. Rendered manifests come last, because Helm reads the other files."""
    return max(write_or_check(arguments, root, files) for files in (_of_the_chart(root), _rendered(root)))


def _of_the_chart(root: Path) -> Files:
    found = values((root / CHART / "values.yaml").read_text(encoding="utf-8"))
    crd = (root / "crds" / "trainwright.dev_trainingjobs.yaml").read_text(encoding="utf-8")
    return {
        f"{CHART}/values.schema.json": partial(schema.of, found, pod_template.definitions(crd)),
        f"{CHART}/README.md": partial(readme.of, found),
        f"{CHART}/templates/crd.yaml": partial(definition.template, crd),
    }


def _rendered(root: Path) -> Files:
    return {path: partial(rendered.manifest, root, path) for path in rendered.MANIFESTS}


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path.cwd()))
