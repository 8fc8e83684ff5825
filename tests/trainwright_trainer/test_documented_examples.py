"""The examples in the documentation of the Python API run as they stand there, in one folder, one after the other."""

from __future__ import annotations

import doctest
import random
from pathlib import Path

import pandas as pd

import trainwright
from trainwright_trainer import api
from trainwright_trainer.tasks import trained_model

PAGE = Path(__file__).parents[2] / "docs/python.md"
JOB = """
dataset: customers.csv
config:
  input_features:
    - {name: age, type: number}
    - {name: plan, type: category}
    - {name: joined, type: date}
  output_features:
    - {name: left, type: binary}
"""


def customers(rows: int) -> pd.DataFrame:
    """Customers who leave the more often the older they are."""
    draws = random.Random(1)
    ages = [draws.randrange(18, 80) for _ in range(rows)]
    return pd.DataFrame(
        {
            "name": [f"customer {row}" for row in range(rows)],
            "age": ages,
            "plan": [draws.choice(["basic", "plus", "team"]) for _ in ages],
            "joined": [f"2024-{draws.randrange(1, 13):02d}-{draws.randrange(1, 28):02d}" for _ in ages],
            "left": ["yes" if draws.random() < (age - 18) / 62 else "no" for age in ages],
        }
    )


def test_the_examples_of_the_python_api(workplace):
    (workplace.folder / "churn.yaml").write_text(JOB)
    customers(600).to_csv("customers.csv", index=False)
    customers(3).drop(columns="left").to_csv("new.csv", index=False)
    names = {
        "customers": pd.read_csv("customers.csv"),
        **{name: getattr(trainwright, name) for name in trainwright.__all__},
    }
    for module in (trainwright, trained_model, api):
        found = doctest.testmod(module, extraglobs=names, optionflags=doctest.ELLIPSIS, verbose=False)
        assert found.attempted >= 3, module
        assert not found.failed
    page = doctest.testfile(str(PAGE), module_relative=False, optionflags=doctest.ELLIPSIS)
    assert page.attempted >= 8
    assert not page.failed
