"""Writes the files that are generated from the models. With --check it only reports stale files."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from trainwright_api.generate.crd import crd
from trainwright_api.generate.ludwig import ludwig_names
from trainwright_api.generate.models import models
from trainwright_api.generate.reference import reference

FILES: Mapping[str, Callable[[], str]] = {
    "crds/trainwright.dev_trainingjobs.yaml": crd,
    "docs/reference.md": reference,
    "docs/ludwig.md": ludwig_names,
    "docs/models.md": models,
}


def main(arguments: Sequence[str], root: Path, files: Mapping[str, Callable[[], str]] = FILES) -> int:
    """Write each file below `root`, or print the stale ones. Return the exit code: 1 for a stale file."""
    stale = [path for path, make in files.items() if not _is_fresh(root / path, make())]
    if "--check" not in arguments:
        for path in stale:
            (root / path).write_text(files[path](), encoding="utf-8")
            print(f"wrote {path}")
        return 0
    for path in stale:
        print(f"{path} is stale: run `make generate`", file=sys.stderr)
    return 1 if stale else 0


def _is_fresh(path: Path, content: str) -> bool:
    return path.exists() and path.read_text(encoding="utf-8") == content


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], Path.cwd()))
