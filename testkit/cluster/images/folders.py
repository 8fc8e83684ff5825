"""The folders of the images and of their build files. All of them may be deleted."""

from __future__ import annotations

from pathlib import Path

from testkit.cluster.images.buildah import Buildah
from testkit.cluster.images.layout import Layout
from testkit.cluster.program import cache_folder


def images() -> Path:
    return cache_folder() / "images"


def layout() -> Layout:
    return Layout(images() / "layout")


def buildah() -> Buildah:
    return Buildah(images() / "buildah")
