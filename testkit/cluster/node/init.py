"""The first process of a node. It makes the node's mounts, starts its programs, and starts again what ends.

It lives in namespaces of its own for mounts and processes. So when it is killed the kernel kills all that ran on the
node, and unmounts all that was mounted there, as if the power had failed.

It is run as a plain file: it knows the standard library only.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

SECONDS_BEFORE_RESTART = 1.0
SECONDS_BETWEEN_LOOKS = 0.05


def main() -> None:
    node = json.loads(Path(sys.argv[1]).read_text())
    mount(node["mounts"])
    running = {start(program): program for program in node["programs"]}
    while True:
        pid, _ = os.wait()
        if pid in running:
            time.sleep(SECONDS_BEFORE_RESTART)
            program = running.pop(pid)
            running[start(program)] = program


def mount(folders: dict[str, str]) -> None:
    """Mount the node's own folders where programs expect the machine's. The mounts of pods are shared between its
    programs.
    """
    command("mount", "--make-rshared", "/")
    for real, seen in folders.items():
        Path(seen).mkdir(parents=True, exist_ok=True)
        command("mount", "--bind", real, seen)
    command("mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/run")


def start(program: dict[str, Any]) -> int:
    """Start the program when its requirements exist."""
    while not all(Path(path).exists() for path in program["after"]):
        time.sleep(SECONDS_BETWEEN_LOOKS)
    with Path(program["log"]).open("ab") as log:
        started = subprocess.Popen(
            program["command"], stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True
        )
    return started.pid


def command(*words: str) -> None:
    subprocess.run(words, check=True)


if __name__ == "__main__":
    main()
