"""The text of an upgraded file, in each of its forms."""

from __future__ import annotations

import json
from copy import deepcopy
from typing import Any

import pytest
from tests.trainwright_api.upgrade.cases import CASES

from trainwright_api.checks.load import upgraded_text
from trainwright_api.problems import Mistakes
from trainwright_api.yaml.nodes import read

BARE = """\
# My model of 2020.
input_features:
  - name: age        # in years
    type: numerical
    encoder: dense   # small
    fc_size: 32
  - {name: plan, type: category}
output_features:
  - name: left
    type: binary

# How it is trained.
training:
  learning_rate: 1e-3
  decay: true        # slowly
  epochs: 3
random_seed: 7
backend: ray
"""
UPGRADED = """\
# My model of 2020.
input_features:
  - name: age        # in years
    type: number
    encoder:         # small
      type: dense
      output_size: 32
  - {name: plan, type: category}
output_features:
  - name: left
    type: binary

# How it is trained.
trainer:
  learning_rate: 1e-3
  epochs: 3
  learning_rate_scheduler:
    decay: exponential # slowly
random_seed: 7
backend:
  type: ray
"""


def indented(text: str) -> str:
    return "".join(f"    {line}" if line.strip() else line for line in text.splitlines(keepends=True))


def test_a_bare_config_keeps_its_form_and_its_comments() -> None:
    assert upgraded_text(BARE, "old.yaml") == (UPGRADED, True)
    assert upgraded_text(UPGRADED, "old.yaml") == (UPGRADED, True)


@pytest.mark.parametrize(
    "head", ["dataset: d.csv\nconfig:\n", "apiVersion: trainwright.dev/v1alpha1\nkind: TrainingJob\nspec:\n  config:\n"]
)
def test_the_other_forms_keep_theirs(head: str) -> None:
    text, has_comments = upgraded_text(head + indented(BARE), "old.yaml")
    data = read(text).data
    spec = data.get("spec", data)
    today = read(UPGRADED).data
    assert (spec["backend"], spec["seed"]) == (today.pop("backend"), today.pop("random_seed"))
    assert spec["config"] == today
    assert has_comments
    assert text.startswith(head.partition("config")[0])
    assert "# slowly" in text


@pytest.mark.parametrize("name", CASES)
def test_each_rule_reaches_the_text(name: str) -> None:
    old, new, _ = CASES[name]
    job: dict[str, Any] = {"dataset": "d", "config": deepcopy(old)}
    text = json.dumps(job)
    assert json.loads(upgraded_text(text, "old.json")[0])["config"] == new
    block = f"dataset: d  # here\nconfig:\n  {json.dumps(old)}\n"
    found, has_comments = upgraded_text(block, "old.yaml")
    assert (read(found).data["config"], has_comments) == (new, True)
    assert found.startswith("dataset: d  # here\n")


def test_an_old_form_beside_its_successor_is_a_mistake() -> None:
    with pytest.raises(Mistakes, match=r"config\.training: the old spelling of trainer, which is given too"):
        upgraded_text("dataset: d\nconfig: {training: {}, trainer: {}}\nbackend: local\n", "old.yaml")


def test_a_file_that_is_no_job_stays_as_it_is() -> None:
    assert upgraded_text("- a\n", "old.yaml") == ("- a\n", True)
