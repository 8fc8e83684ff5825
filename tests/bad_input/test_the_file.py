"""Files that are no job: one line each, exit code 2, nothing written."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{a: 1", "line 1: a bracket that is never closed"),
        ("a: b: c", "line 1: a ':' where no key can stand: is the line indented too far, or a quote missing?"),
        ("dataset: 'data.csv", "line 1: a quote that is never closed"),
        ("dataset: data.csv\nconfig: {a: 1,\n  b: 2\n", "line 2: a bracket that is never closed"),
        ("data.csv", "expected keys and values, found one value"),
        ("- data.csv", "expected keys and values, found a list"),
        ("", "the file is empty"),
        ("dataset: data.csv\nconfig:\n\ttrainer: {}\n", "line 3: a tab: YAML indents with spaces"),
        ("dataset: data.csv\ndataset: b.csv\n", "dataset: line 2: the key stands here twice; first in line 1"),
        ("a: 1\n---\nb: 2\n", "line 3: a second document begins; a file holds one job"),
        ("dataset: !!python/name:os.system x\n", "dataset: line 1: the tag !!python/name:os.system means nothing here"),
    ],
)
def test_what_is_not_yaml(workplace, text, line):
    workplace.data(text, name="job.yaml")
    assert workplace.refused("train", "job.yaml", "--output", "out") == f"job.yaml: {line}"
    assert workplace.refused("validate", "job.yaml") == f"job.yaml: {line}"


def test_a_duplicate_key_deep_inside(workplace):
    lines = ["dataset: data.csv", "config:", "  trainer:", "    epochs: 1", "    epochs: 2"]
    workplace.data(*lines, name="job.yaml")
    assert workplace.refused("train", "job.yaml") == (
        "job.yaml: config.trainer.epochs: line 5: the key stands here twice; first in line 4"
    )


def test_what_is_no_text(workplace):
    (workplace.folder / "job.yaml").write_bytes(b"PAR1\xff\xfe")
    assert workplace.refused("train", "job.yaml") == "job.yaml: no text in UTF-8 (byte 5): is this the data?"


def test_what_is_not_there(workplace):
    assert workplace.refused("train", "jop.yaml") == "jop.yaml: cannot be read: No such file or directory"
    expected = ".: a folder, not a job's file: is it a model (--model) or the data (--dataset)?"
    assert workplace.refused("train", ".") == expected


def test_as_a_process(workplace):
    """The same, where nothing of pytest stands between: a line on stderr, and the exit code of the process."""
    workplace.data("{a: 1", name="job.yaml")
    before = workplace.files()
    ended = workplace.program("train", "job.yaml", "--output", "out")
    assert (ended.code, ended.out, ended.err) == (2, "", "job.yaml: line 1: a bracket that is never closed\n")
    assert workplace.files() == before
