"""The changes after which our images are built again."""

from __future__ import annotations

from pathlib import Path

import pytest
from testkit.cluster.images import ours
from testkit.cluster.images.ours import FILES, OPERATOR, OURS, PACKAGES, TRAINER

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses

SOURCE = "trainer_image/trainwright_trainer/run.py"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small tree of the same shape."""
    for name in (*FILES, *(image.dockerfile for image in OURS), *(f"{package}/run.py" for package in PACKAGES)):
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("as it was")
    monkeypatch.setattr(ours, "ROOT", tmp_path)
    return tmp_path


def test_what_is_sent_to_the_builder_is_what_is_looked_at() -> None:
    named = {line[1:] for line in (ours.ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert named | {".dockerignore"} == {*FILES, *PACKAGES}


@pytest.mark.parametrize("name", [*FILES, SOURCE, "Dockerfile.gpu"])
def test_a_change_of_an_input_is_seen(tree: Path, name: str) -> None:
    before = TRAINER.inputs
    (tree / name).write_text("another")
    assert TRAINER.inputs != before


def test_a_file_that_goes_or_is_renamed_is_seen(tree: Path) -> None:
    before = TRAINER.inputs
    (tree / SOURCE).rename((tree / SOURCE).with_name("running.py"))
    assert TRAINER.inputs != before


@pytest.mark.parametrize(
    "name", ["docs/design.md", "Dockerfile.operator", "crds/trainwright_api/__pycache__/job.pyc", "tests/test_x.py"]
)
def test_a_change_of_anything_else_costs_nothing(tree: Path, name: str) -> None:
    before = TRAINER.inputs
    (tree / name).parent.mkdir(parents=True, exist_ok=True)
    (tree / name).write_text("another")
    assert TRAINER.inputs == before


def test_a_change_of_our_code_is_no_change_of_the_libraries(tree: Path) -> None:
    before = TRAINER.libraries
    assert TRAINER.inputs.startswith(before)
    (tree / SOURCE).write_text("another")
    assert TRAINER.libraries == before
    (tree / "uv.lock").write_text("another")
    assert TRAINER.libraries != before


def test_the_two_are_distinguished(tree: Path) -> None:
    (tree / "Dockerfile.operator").write_text("another")
    assert OPERATOR.inputs != TRAINER.inputs
