"""An OCI image layout in a folder, and images that contain one static program only."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
REFERENCE = "org.opencontainers.image.ref.name"
CONTAINERD_NAME = "io.containerd.image.name"
"""The annotation with the name under which containerd imports an image."""
INPUTS = "dev.trainwright.inputs"
"""The annotation with the digest of the image's inputs."""

Descriptor = Mapping[str, Any]


class Layout:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._index = folder / "index.json"

    def inputs(self, name: str) -> str | None:
        """Return the inputs of the image with this name, or None if it does not exist."""
        found = self._images().get(name)
        return None if found is None else found["annotations"].get(INPUTS)

    def names(self) -> list[str]:
        return list(self._images())

    def add(self, blob: bytes, media_type: str) -> dict[str, Any]:
        """Write the blob and return its descriptor."""
        digest = f"sha256:{hashlib.sha256(blob).hexdigest()}"
        path = self.path(digest)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(blob)
        return {"mediaType": media_type, "digest": digest, "size": len(blob)}

    def put(self, name: str, manifest: Descriptor, inputs: str) -> None:
        """Give the image this name."""
        described = {key: manifest[key] for key in ("mediaType", "digest", "size")}
        annotations = {REFERENCE: name, CONTAINERD_NAME: name, INPUTS: inputs}
        self._write({**self._images(), name: {**described, "annotations": annotations}})

    def pushed(self, name: str) -> Descriptor:
        """Return the manifest that another program has stored under the name."""
        return self._images()[name]

    def blobs(self, name: str) -> Iterator[str]:
        """Return the digests of the image's blobs."""
        manifest = self._images()[name]["digest"]
        yield manifest
        described = json.loads(self.path(manifest).read_bytes())
        yield described["config"]["digest"]
        yield from (layer["digest"] for layer in described["layers"])

    def config(self, name: str) -> Mapping[str, Any]:
        """Return the config of the image: user, environment, entrypoint, labels."""
        _, config, *_ = self.blobs(name)
        return dict(json.loads(self.path(config).read_bytes())["config"])

    def index(self, name: str) -> bytes:
        """Return the `index.json` of a layout with only this image."""
        return _index([self._images()[name]])

    def path(self, digest: str) -> Path:
        return self.folder / "blobs" / digest.replace(":", "/")

    def share(self, blobs: Path) -> None:
        """Replace the blobs that the other folder, on the same disk, also holds by hard links."""
        for own in (self.folder / "blobs").glob("*/*"):
            other = blobs / own.parent.name / own.name
            if other.exists() and not other.samefile(own) and other.stat().st_dev == own.stat().st_dev:
                young = own.with_suffix(".young")
                young.hardlink_to(other)
                young.replace(own)

    def forget_unused(self) -> None:
        """Remove the blobs of images without a name."""
        used = {self.path(digest) for name in self.names() for digest in self.blobs(name)}
        for blob in (self.folder / "blobs").glob("*/*"):
            if blob not in used:
                blob.unlink()

    def _images(self) -> dict[str, dict[str, Any]]:
        """Return the index by name. A name that moved to another image leaves an entry without a name."""
        if not self._index.exists():
            return {}
        images: list[dict[str, Any]] = json.loads(self._index.read_bytes())["manifests"]
        return {image["annotations"][REFERENCE]: image for image in images if REFERENCE in image.get("annotations", {})}

    def _write(self, images: Mapping[str, Any]) -> None:
        (self.folder / "oci-layout").write_bytes(VERSION)
        young = self._index.with_suffix(".young")
        young.write_bytes(_index(images.values()))
        young.rename(self._index)


VERSION = json.dumps({"imageLayoutVersion": "1.0.0"}).encode()


def _index(images: Any) -> bytes:
    return json.dumps({"schemaVersion": 2, "manifests": list(images)}).encode()


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


def put_program(program: StaticProgram, layout: Layout) -> None:
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
