"""`python -m testkit.cluster.node up` and `down`: a full cluster on this machine, in the background."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from testkit.cluster.errors import ClusterError
from testkit.cluster.node import supervisor
from testkit.cluster.node.cluster_folder import ClusterFolder
from testkit.cluster.node.full_cluster import down, up, usage


def main() -> int:
    wanted = _arguments()
    place = ClusterFolder(wanted.root) if wanted.root else ClusterFolder.default()
    try:
        _be_root()
        if wanted.what == "keep":
            supervisor.keep(place)
        elif wanted.what == "down":
            down(place)
        else:
            up(place, with_ours=not wanted.bare)
            print(usage(place))
    except ClusterError as problem:
        print(problem, file=sys.stderr)
        return 1
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m testkit.cluster.node", description=__doc__)
    parser.add_argument("what", choices=["up", "down", "keep"], help="keep: what `up` leaves in the background")
    parser.add_argument("--root", type=Path, help="another folder than that of the cache")
    parser.add_argument("--bare", action="store_true", help="without the images of the operator and the trainer")
    return parser.parse_args()


def _be_root() -> None:
    if os.geteuid() != 0:
        raise ClusterError(
            "a cluster with nodes needs root (mounts, namespaces, iptables): call it as root, "
            "or set KUBECONFIG and IMAGES to a cluster that runs"
        )


if __name__ == "__main__":
    sys.exit(main())
