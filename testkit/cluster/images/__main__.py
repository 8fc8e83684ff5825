"""`python -m testkit.cluster.images`: builds what changed; prints each image's name and the layout that holds it."""

from __future__ import annotations

import sys

from testkit.cluster.errors import ClusterError
from testkit.cluster.images.building import build


def main() -> int:
    try:
        built = build()
    except ClusterError as problem:
        print(problem, file=sys.stderr)
        return 1
    for name, layout in built.items():
        print(f"{name}\t{layout}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
