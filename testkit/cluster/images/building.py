"""Builds our images, each only if its inputs have changed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from testkit.cluster import locks
from testkit.cluster.images import base, buildah, debian
from testkit.cluster.images.buildah import Buildah
from testkit.cluster.images.command import log, step
from testkit.cluster.images.layout import Layout
from testkit.cluster.images.ours import MODIN, OURS, ROOT, Ours


def build() -> Mapping[str, Path]:
    """Build our images. Return the layout of each, by its name."""
    folder = buildah.images()
    folder.mkdir(parents=True, exist_ok=True)
    with locks.locked(folder / "lock"):
        layout = buildah.layout()
        stale = [image for image in OURS if layout.inputs(image.name) != image.inputs]
        if stale:
            _build(stale, buildah.buildah(), layout)
        else:
            log("our images are as their sources are")
        return dict.fromkeys(layout.names(), layout.folder)


def build_modin() -> Layout:
    """Build the trainer's image with Modin. Its layout is its own, with hard links to the blobs that it shares."""
    build()
    folder = buildah.images()
    with locks.locked(folder / "lock"):
        own = Layout(folder / "modin")
        if own.inputs(MODIN.name) != MODIN.inputs:
            shutil.rmtree(own.folder, ignore_errors=True)
            shutil.copytree(buildah.layout().folder / "blobs", own.folder / "blobs", copy_function=os.link)
            _build([MODIN], buildah.buildah(), own)
        return own


def _build(stale: Sequence[Ours], buildah: Buildah, layout: Layout) -> None:
    debian.install()
    base.make(buildah)
    for image in stale:
        _build_one(image, buildah, layout)
    layout.forget_unused()
    buildah.forget_unused()


def _build_one(image: Ours, buildah: Buildah, layout: Layout) -> None:
    inputs = image.inputs  # as they are before: what changes meanwhile is built the next time
    libraries_are_new = not (layout.inputs(image.name) or "").startswith(image.libraries)
    dockerfile = ROOT / image.dockerfile
    with step(f"build {image.name}"):
        buildah.build(image.name, dockerfile, ROOT, *(f"--build-arg={argument}" for argument in image.arguments))
        for stage in image.stages:
            if libraries_are_new or not buildah.has(image.name_of(stage)):
                # With a name, the stage is there for the next build.
                buildah.build(image.name_of(stage), dockerfile, ROOT, f"--target={stage}")
    with step(f"write {image.name} to {layout.folder}"):
        buildah.copy(image.name, layout.folder)
    layout.put(image.name, layout.pushed(image.name), inputs)
