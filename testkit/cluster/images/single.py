"""Images that contain one static program only. They are written directly: an archive, and two JSON files that describe
it.
"""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from dataclasses import dataclass
from pathlib import Path

from testkit.cluster.images.layout import MANIFEST, Layout

CONFIG = "application/vnd.oci.image.config.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"


@dataclass(frozen=True)
class StaticProgram:
    """A static program, and its path in the image."""

    name: str
    file: Path
    path: str
    user: int = 65532
    """A number other than root's, because manifests with runAsNonRoot require one."""

    @property
    def digest(self) -> str:
        return hashlib.sha256(f"{self.path} {self.user} ".encode() + self.file.read_bytes()).hexdigest()[:16]


def put(program: StaticProgram, layout: Layout) -> None:
    """Write the image of the program into the layout, unless it is there already."""
    if layout.inputs(program.name) == program.digest:
        return
    layer = layout.add(_archive(program), LAYER)
    config = {
        "architecture": "amd64",
        "os": "linux",
        "config": {"User": str(program.user), "Entrypoint": [program.path]},
        "rootfs": {"type": "layers", "diff_ids": [layer["digest"]]},
    }
    described = layout.add(json.dumps(config).encode(), CONFIG)
    manifest = {"schemaVersion": 2, "mediaType": MANIFEST, "config": described, "layers": [layer]}
    layout.put(program.name, layout.add(json.dumps(manifest).encode(), MANIFEST), program.digest)


def _archive(program: StaticProgram) -> bytes:
    written = io.BytesIO()
    entry = tarfile.TarInfo(program.path.lstrip("/"))
    entry.mode, entry.size = 0o755, program.file.stat().st_size
    with tarfile.open(fileobj=written, mode="w") as archive, program.file.open("rb") as file:
        archive.addfile(entry, file)
    return written.getvalue()
