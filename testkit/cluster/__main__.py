"""`python -m testkit.cluster`: runs a control plane in the foreground. `--build` only builds the programs."""

from __future__ import annotations

import argparse
import os
import select
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from testkit.cluster import argocd_lua, binaries
from testkit.cluster.control_plane import ControlPlane
from testkit.cluster.errors import ClusterError
from testkit.cluster.node import programs

SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


def main() -> int:
    wanted = _arguments()
    for number in SIGNALS:
        signal.signal(number, _stop)
    try:
        binaries.programs()
        binaries.kubectl()
        if wanted.build:
            programs.helm().folder()
            argocd_lua.LUA.folder()
        else:
            _serve(wanted.ready_file, wanted.as_long_as)
    except ClusterError as problem:
        print(problem, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\nThe control plane is gone.")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m testkit.cluster", description=__doc__)
    parser.add_argument("--build", action="store_true", help="build the programs, where that was not done, and end")
    parser.add_argument("--ready-file", type=Path, help="written with the control plane's folder once it serves")
    parser.add_argument("--as-long-as", type=int, metavar="PID", help="end when this process ends")
    return parser.parse_args()


def _serve(ready_file: Path | None, pid: int | None) -> None:
    started = time.monotonic()
    with ControlPlane() as plane:
        if ready_file is None:
            print(_usage(plane, time.monotonic() - started), flush=True)
        else:
            _write_at_once(ready_file, str(plane.folder))
        _wait(pid)


def _usage(plane: ControlPlane, seconds: float) -> str:
    exports = " ".join(f"{name}={value}" for name, value in plane.api_server.kubectl.environment.items())
    return f"""\
Kubernetes {binaries.kubernetes_version()} serves at {plane.api_server.url} after {seconds:.1f} s.
It knows TrainingJob, RayJob and RayCluster; nothing runs pods.
In another shell:
  export {exports} PATH="{plane.api_server.kubectl.program.parent}:$PATH"
  kubectl get trainingjobs
Logs and the audit log: {plane.folder}
Ctrl-C ends it and removes everything."""


def _wait(pid: int | None) -> None:
    """Wait for the process to end; without one, forever."""
    if pid is None:
        signal.pause()
    else:
        watched = os.pidfd_open(pid)
        select.select([watched], [], [])
        os.close(watched)


def _write_at_once(path: Path, text: str) -> None:
    young = path.with_suffix(".young")
    young.write_text(text)
    young.rename(path)


def _stop(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 (the signal's own form)
    """Runs once: a second Ctrl-C would interrupt the cleanup."""
    for each in SIGNALS:
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


if __name__ == "__main__":
    sys.exit(main())
