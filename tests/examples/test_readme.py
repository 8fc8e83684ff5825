"""The commands, the job and the Python code of the README run as they stand there, on a table of its columns."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pandas as pd
from tests.customers import customers

README = Path(__file__).parents[2] / "README.md"


def commands(text: str) -> list[list[str]]:
    """The commands of the first two sections, without comments, that need no cluster and no other files."""
    part = text[: text.index("## On Kubernetes")]
    lines = re.findall(r"^trainwright .*(?:churn|customers).*$", part, flags=re.MULTILINE)
    return [shlex.split(line, comments=True)[1:] for line in lines]


def test_the_first_hour(workplace):
    text = README.read_text()
    for name, rows, seed in (("customers.csv", 600, 1), ("new.csv", 20, 2), ("march.csv", 80, 3)):
        customers(rows, seed).to_csv(name, index=False)
    found = commands(text)
    assert [words[0] for words in found] == ["init", "train", "predict", "evaluate", "compare", "validate"]
    for words in found[:4]:
        workplace.done(*words)
    assert pd.read_csv("predictions.csv").columns[:3].tolist() == ["name", "left", "left_predictions"]
    workplace.done("train", "churn.yaml", "--output", "out/churn2", "--seed", "1")
    workplace.done(*found[4])
    job = re.search(r"```yaml\n(# churn\.yaml\n.*?)```", text, flags=re.DOTALL)
    assert job is not None
    (workplace.folder / "churn.yaml").write_text(job[1])
    workplace.done(*found[5])


def test_python(workplace, capsys):
    customers(600, 1).to_csv("customers.csv", index=False)
    text = README.read_text()
    job = re.search(r"```yaml\n(# churn\.yaml\n.*?)```", text, flags=re.DOTALL)
    code = re.search(r"```python\n(import trainwright\n.*?)```", text, flags=re.DOTALL)
    assert job is not None
    assert code is not None
    (workplace.folder / "churn.yaml").write_text(job[1])
    names: dict[str, object] = {"frame": pd.read_csv("customers.csv")}
    exec(code[1], names)
    assert "out/churn/report.html" in capsys.readouterr().out
    assert len(names["predictions"]) == 600  # type: ignore[arg-type]
    assert names["scores"]["left"]["roc_auc"] > 0.5  # type: ignore[index]
