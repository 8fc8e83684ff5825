"""cert-manager beside a cluster: its controllers and its cainjector in one process, as an administrator.

`cert_manager/main.go` builds it of cert-manager's packages. There is no webhook of cert-manager, which checks and
completes what users write.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from testkit.cluster import crds, golang
from testkit.cluster.kubectl import Kubectl
from testkit.cluster.process import Process
from testkit.cluster.program import Program

CERT_MANAGER = Path(__file__).parent / "cert_manager"
MODULE = "github.com/cert-manager/cert-manager"


def program() -> Program:
    return Program(f"cert-manager {golang.pin(CERT_MANAGER, MODULE)}", CERT_MANAGER, ("cert-manager",))


@contextmanager
def cert_manager(kubectl: Kubectl, folder: Path) -> Iterator[Process]:
    """It runs within the block. Its definitions, and with them all Certificates, are deleted at the end."""
    definitions = sorted((golang.module_folder(CERT_MANAGER, MODULE) / "deploy" / "crds").glob("*.yaml"))
    crds.install(kubectl, definitions)
    running = Process(program().path(), {}, folder / "cert-manager.log", kubectl.environment)
    try:
        yield running
    finally:
        running.stop()
        kubectl("delete", *(argument for path in definitions for argument in ("-f", str(path))), "--timeout=60s")
