"""A store with our and KubeRay's CRDs installed: made once, then copied for every control plane.

KubeRay's are megabytes: their installation takes an API server longer than its start, and 150 MB more memory.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

from testkit.cluster import crds, locks
from testkit.cluster.api_server import ApiServer
from testkit.cluster.etcd import Etcd
from testkit.cluster.locks import Folder
from testkit.cluster.program import cache_folder


def copy(programs: Path, data: Path) -> None:
    """Copy the store to `data`. Only the newest one is kept, because the CRDs change often."""
    cache = cache_folder() / "store"
    made = cache / _digest(programs)
    with locks.locked(cache.with_suffix(".lock")):
        if not made.is_dir():
            shutil.rmtree(cache, ignore_errors=True)
            cache.mkdir()
            _make(programs, made)
        shutil.copytree(made, data)


def _digest(programs: Path) -> str:
    digest = hashlib.sha256(programs.name.encode())
    for path in crds.files():
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def _make(programs: Path, made: Path) -> None:
    temporary = Folder()
    etcd = Etcd(programs, temporary.path)
    server = ApiServer(programs, temporary.path, etcd.url)
    try:
        etcd.start()
        server.start()
        crds.install(server.kubectl, crds.files())
        server.kill()
        etcd.stop()
        young = made.with_suffix(".young")
        shutil.copytree(etcd.data, young)
        young.rename(made)
    finally:
        server.close()
        etcd.kill()
        temporary.remove()
