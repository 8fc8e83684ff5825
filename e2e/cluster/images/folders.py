"""Where images and what they are made with lie. All of it may be deleted."""

from __future__ import annotations

from pathlib import Path

from e2e.cluster.images.buildah import Buildah
from e2e.cluster.images.layout import Layout
from e2e.cluster.program import cache_folder


def images() -> Path:
    return cache_folder() / "images"


def layout() -> Layout:
    return Layout(images() / "layout")


def buildah() -> Buildah:
    return Buildah(images() / "buildah")
