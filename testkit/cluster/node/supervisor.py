"""The process that starts the cluster. When it ends for any reason, everything that it started ends."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType

from testkit.cluster import locks
from testkit.cluster.errors import ClusterError
from testkit.cluster.images.command import step
from testkit.cluster.node import network, programs
from testkit.cluster.node.cluster_folder import FIRST, ClusterFolder
from testkit.cluster.node.node import Node
from testkit.cluster.node.servers import Servers

ROOT = Path(__file__).parents[3]
SECONDS_TO_END = 30.0
SECONDS_BETWEEN_LOOKS = 0.05


def keep(place: ClusterFolder) -> None:
    """Start everything, then wait for SIGTERM."""
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))  # what its starter holds, such as a lock, is not for as long as this
    alive = locks.held(place.running / "alive")
    network.lay()
    servers = Servers(place)
    first = Node(place, FIRST, programs.node().folder())
    signal.signal(signal.SIGTERM, _end)
    try:
        _start(place, servers, first)
        signal.pause()
    finally:
        first.kill()
        servers.kill()
        alive.close()


def is_alive(place: ClusterFolder) -> bool:
    mark = place.running / "alive"
    return mark.exists() and locks.is_held(mark)


def start(place: ClusterFolder) -> None:
    """Start the supervisor in the background. Its output goes to a file, which is printed until it is ready."""
    place.logs.mkdir(parents=True)
    log = place.logs / "cluster.log"
    command = [sys.executable, "-u", "-m", "testkit.cluster.node", "keep", f"--root={place.root}"]
    with log.open("wb") as output:
        pid = os.posix_spawn(
            command[0],
            command,
            {**os.environ, "PYTHONPATH": str(ROOT)},
            file_actions=[
                (os.POSIX_SPAWN_OPEN, 0, "/dev/null", os.O_RDONLY, 0),
                *((os.POSIX_SPAWN_DUP2, output.fileno(), number) for number in (1, 2)),
            ],
            setsid=True,
        )
    (place.running / "supervisor").write_text(str(pid))
    _follow(place, log, pid)


def stop(place: ClusterFolder) -> None:
    """Send SIGTERM, and wait until the kernel has ended all its processes."""
    if is_alive(place):
        os.kill(int((place.running / "supervisor").read_text()), signal.SIGTERM)
    end = time.monotonic() + SECONDS_TO_END
    while is_alive(place):
        if time.monotonic() > end:
            raise ClusterError(f"the cluster does not end after {SECONDS_TO_END:.0f} s; see {place.logs}")
        time.sleep(SECONDS_BETWEEN_LOOKS)


def _start(place: ClusterFolder, servers: Servers, first: Node) -> None:
    with step("the control plane"):
        servers.start_control_plane()
    with step("S3"):
        place.keep_s3(servers.start_s3())
    with step("DNS"):
        servers.start_dns()
    with step(f"the node {first.site.name}"):
        first.start()
        network.reach_services(first.site)
        first.wait_until_ready(servers.api_server.kubectl)
    (place.running / "ready").touch()


def _end(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 (the signal's own form)
    raise SystemExit(0)


def _follow(place: ClusterFolder, log: Path, pid: int) -> None:
    """Print the log of the supervisor until it is ready or has failed."""
    with log.open() as output:
        while True:
            ready = (place.running / "ready").exists()
            sys.stdout.write(output.read())
            sys.stdout.flush()
            if ready:
                return
            if os.waitpid(pid, os.WNOHANG)[0]:
                raise ClusterError(f"the cluster did not start; the logs of its parts: {place.logs}")
            time.sleep(SECONDS_BETWEEN_LOOKS)
