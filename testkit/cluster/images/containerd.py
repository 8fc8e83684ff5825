"""Images into containerd, by `ctr`: only the blobs that it lacks are sent."""

from __future__ import annotations

import contextlib
import io
import subprocess
import tarfile
from collections.abc import Iterable, Sequence
from typing import IO

from testkit.cluster.errors import ClusterError
from testkit.cluster.images import buildah
from testkit.cluster.images.command import run, step
from testkit.cluster.images.layout import VERSION, Layout

Ctr = Sequence[str]
"""`ctr` with its target: --address, and --namespace k8s.io for the kubelet's images."""


def load(ctr: Ctr, names: Iterable[str] | None = None, *, layout: Layout | None = None) -> None:
    """Import these images, or all built ones, into containerd. Unchanged images take no time."""
    layout = layout or buildah.layout()
    for name in layout.names() if names is None else names:
        if not _has(ctr, name, next(layout.blobs(name))):
            _import(ctr, name, layout)


def _has(ctr: Ctr, name: str, manifest: str) -> bool:
    listed = run([*ctr, "images", "list", f"name=={name}"])
    return manifest in listed.split()


def _import(ctr: Ctr, name: str, layout: Layout) -> None:
    present = set(run([*ctr, "content", "list", "--quiet"]).split())
    missing = [digest for digest in layout.blobs(name) if digest not in present]
    size = sum(layout.path(digest).stat().st_size for digest in missing)
    with step(f"import {name} into containerd ({size / 1e6:,.1f} MB that it lacked)"):
        _send([*ctr, "images", "import", "-"], name, layout, missing)


def _send(command: Sequence[str], name: str, layout: Layout, digests: Iterable[str]) -> None:
    """Stream the archive without writing a copy."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as ctr:
        assert ctr.stdin is not None
        assert ctr.stderr is not None
        with contextlib.suppress(BrokenPipeError), ctr.stdin:  # ctr has ended, and says itself why
            _write(ctr.stdin, name, layout, digests)
        output = ctr.stderr.read().decode(errors="replace").strip()
    if ctr.returncode != 0:
        raise ClusterError(f"{' '.join(command)} failed: {output}")


def _write(receiver: IO[bytes], name: str, layout: Layout, digests: Iterable[str]) -> None:
    with tarfile.open(fileobj=receiver, mode="w|", bufsize=1 << 20) as archive:
        _add(archive, "oci-layout", VERSION)
        _add(archive, "index.json", layout.index(name))
        for digest in digests:
            archive.add(layout.path(digest), f"blobs/{digest.replace(':', '/')}")


def _add(archive: tarfile.TarFile, name: str, content: bytes) -> None:
    entry = tarfile.TarInfo(name)
    entry.size = len(content)
    archive.addfile(entry, io.BytesIO(content))
