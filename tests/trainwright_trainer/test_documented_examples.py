"""The examples in the documentation of the Python API run as they stand there, in one folder, one after the other."""

from __future__ import annotations

import doctest
from pathlib import Path

import pandas as pd
from tests.customers import customers

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
