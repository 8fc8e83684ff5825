"""The content that is sent to containerd, here a program that stores its input. e2e/full_cluster uses the real one."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from testkit.cluster.errors import ClusterError
from testkit.cluster.images import containerd
from testkit.cluster.images.layout import Layout, StaticProgram, put_program

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses

NAME, OTHER = "localhost/pause:3", "localhost/other:1"
CTR = """
import json, pathlib, sys, tarfile
folder, *words = sys.argv[1:]
content = pathlib.Path(folder)
images = content / "images.json"
known = json.loads(images.read_text()) if images.exists() else {}
match words:
    case ["images", "list", wanted]:
        print("REF TYPE DIGEST")
        for name, digest in known.items():
            if wanted == f"name=={name}":
                print(name, "manifest", digest)
    case ["content", "list", "--quiet"]:
        print(*(f"sha256:{blob.name}" for blob in content.glob("blobs/sha256/*")), sep="\\n")
    case ["images", "import", "-"]:
        with tarfile.open(fileobj=sys.stdin.buffer, mode="r|") as archive:
            archive.extractall(content, filter="data")
            (content / "received").write_text("\\n".join(archive.getnames()))
        for image in json.loads((content / "index.json").read_text())["manifests"]:
            known[image["annotations"]["io.containerd.image.name"]] = image["digest"]
        images.write_text(json.dumps(known))
    case _:
        sys.exit(f"what is {words}?")
"""


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    made = Layout(tmp_path / "layout")
    for name in (NAME, OTHER):
        put_program(program(tmp_path, name, b"as it was"), made)
    return made


@pytest.fixture
def ctr(tmp_path: Path) -> list[str]:
    script, content = tmp_path / "ctr.py", tmp_path / "containerd"
    script.write_text(CTR)
    content.mkdir()
    return [sys.executable, str(script), str(content)]


def program(folder: Path, name: str, content: bytes) -> StaticProgram:
    file = folder / "program"
    file.write_bytes(content)
    return StaticProgram(name, file, "/program")


def received(ctr: list[str]) -> set[str]:
    """The blobs of the last import. What was received is forgotten."""
    record = Path(ctr[-1]) / "received"
    names = record.read_text().split() if record.exists() else []
    record.unlink(missing_ok=True)
    return {name for name in names if name.startswith("blobs/")}


def paths(layout: Layout, name: str) -> set[str]:
    return {f"blobs/{digest.replace(':', '/')}" for digest in layout.blobs(name)}


def test_an_image_that_is_not_there_is_sent_whole(layout: Layout, ctr: list[str]) -> None:
    containerd.load(ctr, [NAME], layout=layout)
    assert received(ctr) == paths(layout, NAME)


def test_an_image_that_is_there_is_not_sent(layout: Layout, ctr: list[str]) -> None:
    containerd.load(ctr, layout=layout)
    received(ctr)
    containerd.load(ctr, layout=layout)
    assert received(ctr) == set()


def test_blobs_that_are_there_are_not_sent_again(layout: Layout, ctr: list[str], tmp_path: Path) -> None:
    containerd.load(ctr, layout=layout)
    received(ctr)
    before = paths(layout, NAME)
    put_program(StaticProgram(NAME, tmp_path / "program", "/program", user=5), layout)  # same layer
    containerd.load(ctr, layout=layout)
    changed = paths(layout, NAME) - before
    assert len(changed) == 2
    assert received(ctr) == changed


def test_what_containerd_complains_of_is_reported(layout: Layout, tmp_path: Path) -> None:
    nobody = tmp_path / "nobody.py"
    nobody.write_text("import sys; 'list' in sys.argv or sys.exit('no space left on device')")
    with pytest.raises(ClusterError, match="no space left on device"):
        containerd.load([sys.executable, str(nobody)], layout=layout)
