from __future__ import annotations

import io
import json
import tarfile
from pathlib import Path

import pytest
from testkit.cluster.images.layout import CONTAINERD_NAME, INPUTS, Layout, StaticProgram, put_program

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses

NAME = "localhost/pause:3"


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path / "layout")


@pytest.fixture
def program(tmp_path: Path) -> StaticProgram:
    file = tmp_path / "built"
    file.write_bytes(b"\x7fELF, or so")
    return StaticProgram(NAME, file, "/bin/pause", user=1234)


def test_an_empty_folder_holds_no_image(layout: Layout) -> None:
    assert layout.names() == []
    assert layout.inputs(NAME) is None


def test_an_image_of_one_program_holds_it_and_runs_it(layout: Layout, program: StaticProgram) -> None:
    put_program(program, layout)
    assert layout.config(NAME) == {"User": "1234", "Entrypoint": ["/bin/pause"]}
    _, _, layer = layout.blobs(NAME)
    with tarfile.open(layout.path(layer)) as archive:
        [entry] = archive.getmembers()
        assert (entry.name, entry.mode) == ("bin/pause", 0o755)
        content = archive.extractfile(entry)
        assert content is not None
        assert content.read() == program.file.read_bytes()


def test_containerd_reads_the_name_from_the_index(layout: Layout, program: StaticProgram) -> None:
    put_program(program, layout)
    [image] = json.load(io.BytesIO(layout.index(NAME)))["manifests"]
    assert image["annotations"][CONTAINERD_NAME] == NAME


def test_an_image_is_made_again_when_its_program_has_changed(layout: Layout, program: StaticProgram) -> None:
    put_program(program, layout)
    before = list(layout.blobs(NAME))
    put_program(program, layout)
    assert list(layout.blobs(NAME)) == before
    program.file.write_bytes(b"another one")
    put_program(program, layout)
    assert not set(layout.blobs(NAME)) & set(before)


def test_blobs_without_a_name_are_removed_and_the_others_stay(layout: Layout, program: StaticProgram) -> None:
    put_program(program, layout)
    before = list(layout.blobs(NAME))
    program.file.write_bytes(b"another one")
    put_program(program, layout)
    layout.forget_unused()
    assert not any(layout.path(digest).exists() for digest in before)
    assert all(layout.path(digest).exists() for digest in layout.blobs(NAME))


def test_images_keep_apart_by_name(layout: Layout, program: StaticProgram) -> None:
    put_program(program, layout)
    put_program(StaticProgram("localhost/other:1", program.file, "/other"), layout)
    assert layout.names() == [NAME, "localhost/other:1"]
    assert layout.config("localhost/other:1")["Entrypoint"] == ["/other"]


@pytest.mark.parametrize("left", [{}, {"annotations": {INPUTS: "as it was"}}])
def test_an_entry_whose_name_was_taken_away_is_no_image(
    layout: Layout, program: StaticProgram, left: dict[str, dict[str, str]]
) -> None:
    """As skopeo leaves it when it gives the name to another."""
    put_program(program, layout)
    index = json.loads((layout.folder / "index.json").read_text())
    nameless = {key: value for key, value in index["manifests"][0].items() if key != "annotations"}
    index["manifests"].append({**nameless, **left})
    (layout.folder / "index.json").write_text(json.dumps(index))
    assert layout.names() == [NAME]


def test_a_layer_that_containerd_has_takes_no_room(layout: Layout, program: StaticProgram, tmp_path: Path) -> None:
    put_program(program, layout)
    manifest, config, layer = layout.blobs(NAME)
    others = tmp_path / "content"
    for digest in (config, layer):
        other = others / digest.replace(":", "/")
        other.parent.mkdir(parents=True, exist_ok=True)
        other.write_bytes(layout.path(digest).read_bytes())
    layout.share(others)
    assert [layout.path(digest).stat().st_nlink for digest in (manifest, config, layer)] == [1, 2, 2]
    layout.share(others)
    assert {layout.path(digest) for digest in layout.blobs(NAME)} == set(layout.folder.glob("blobs/*/*"))
