"""The function that an entrypoint names: where it is found, and one line for each mistake."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from trainwright_api.problems import Mistakes
from trainwright_api.resource.job import Entrypoint
from trainwright_trainer.job.train_function import call_with, folders_of, imported

MODULE = "a_module_of_this_test"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.delitem(sys.modules, MODULE, raising=False)
    yield tmp_path
    sys.modules.pop(MODULE, None)


def line(folder: Path, code: str | None, function: str = "train", module: str = MODULE) -> str:
    if code is not None:
        (folder / f"{MODULE}.py").write_text(code)
    with pytest.raises(Mistakes) as found:
        imported(Entrypoint(module=module, function=function), [str(folder)])
    (problem,) = found.value.problems
    return str(problem)


def test_a_module_beside_the_file_is_found_and_called_with_its_config(folder: Path) -> None:
    (folder / f"{MODULE}.py").write_text("seen = []\ndef train(config, more=1): seen.append(config)")
    function = imported(Entrypoint(module=MODULE, function="train"), [str(folder)])
    call_with(function, {"lr": 1})
    assert sys.modules[MODULE].seen == [{"lr": 1}]


def test_a_function_may_have_no_parameter(folder: Path) -> None:
    (folder / f"{MODULE}.py").write_text("seen = []\ndef train(): seen.append(1)")
    call_with(imported(Entrypoint(module=MODULE, function="train"), [str(folder)]), {"lr": 1})
    assert sys.modules[MODULE].seen == [1]


def test_the_folder_of_the_file_comes_before_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert folders_of(Path("jobs/job.yaml")) == (str(tmp_path / "jobs"), str(tmp_path))
    assert folders_of(Path("job.yaml")) == (str(tmp_path),)


def test_a_module_that_is_nowhere(folder: Path) -> None:
    expected = f"entrypoint.module: there is no module {MODULE}: neither in {folder}, nor installed"
    assert line(folder, None) == expected
    assert line(folder, None, module=f"{MODULE}.inner").startswith(
        f"entrypoint.module: there is no module {MODULE}.inner"
    )


def test_a_module_that_imports_what_is_missing(folder: Path) -> None:
    found = line(folder, "import a_library_that_is_nowhere")
    assert found == f"entrypoint.module: {MODULE} imports a_library_that_is_nowhere, which is not installed here"


def test_a_module_that_raises(folder: Path) -> None:
    assert (
        line(folder, "1 / 0") == f"entrypoint.module: {MODULE} cannot be imported: ZeroDivisionError: division by zero"
    )


def test_a_module_that_is_a_program(folder: Path) -> None:
    """Without the line, the command would end as if it had trained."""
    text = "ends the program when it is imported: put its calls below if __name__ == '__main__'"
    assert text in line(folder, "import sys\nsys.exit(0)\n")


def test_a_function_that_is_not_there(folder: Path) -> None:
    found = line(folder, "def train_func(config): ...", "train_fun")
    assert found == f"entrypoint.function: {MODULE} has no function 'train_fun': did you mean 'train_func'?"


def test_a_function_that_needs_more_than_its_config(folder: Path) -> None:
    found = line(folder, "def train(config, rank): ...")
    assert found == "entrypoint.function: train needs config, rank; it gets one argument, entrypoint.config"
