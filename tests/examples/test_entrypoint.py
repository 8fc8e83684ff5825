"""The train function and the module of Lightning, on two workers each, and the script that restores its run."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from trainwright_api.checks.load import load

PROGRAM = ("-m", "trainwright_trainer", "train")


def reports(run: Path) -> list[dict]:
    return json.loads((run / "reports.json").read_text())["reports"]


@pytest.mark.parametrize(
    ("name", "epochs", "kept"),
    [pytest.param("digits", 5, 3, marks=pytest.mark.slow), ("lightning", 3, 2)],  # Lightning's function does more
)
def test_the_function_trains_and_its_best_checkpoints_are_kept(
    name: str, epochs: int, kept: int, project: Path, run_python: Callable[..., str]
) -> None:
    if name == "lightning":
        pytest.importorskip("lightning", reason="the extra lightning is not installed")
    assert load(Path(f"examples/entrypoint/{name}.yaml").resolve()).notices == ()
    out = run_python(*PROGRAM, f"examples/entrypoint/{name}.yaml", "--output", f"out/entrypoint-{name}")
    run = project / "out" / f"entrypoint-{name}"
    found = reports(run)
    losses = [report["metrics"]["val_loss"] for report in found]
    assert [report["metrics"]["epoch"] for report in found] == list(range(epochs))
    assert losses[-1] < losses[0]
    assert f"best val_loss {min(losses):.3f} (report {losses.index(min(losses)) + 1})" in out
    checkpoints = {path.name for path in (run / "ray_train").glob("checkpoint_2*")}
    best = sorted(found, key=lambda report: report["metrics"]["val_loss"])[:kept]
    assert checkpoints == {report["checkpoint"] for report in best} | {found[-1]["checkpoint"]}
    assert json.loads((run / "attempts/1/outcome.json").read_text())["class"] == "done"


@pytest.mark.slow  # test_train_function.py restores a run too
def test_the_script_restores_its_run(project: Path, run_python: Callable[..., str]) -> None:
    out = run_python("examples/entrypoint/script.py", str(project / "out" / "script"))
    assert [line for line in out.splitlines() if line.startswith("trained")] == [
        "trained to epoch 1",
        "trained to epoch 2",
    ]
