from __future__ import annotations

import ast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from trainwright_trainer.layers.names import module_key, tensor_name


@pytest.mark.parametrize(
    "name",
    ["carrier", "Ünïcode name", "type", "keys", "forward", "training", "a.b", "50%", "%keys", 'a"b', "a\\", "a\nb"],
)
def test_any_name_can_be_a_modules(name: str) -> None:
    modules = nn.ModuleDict()
    modules[module_key(name)] = nn.Linear(1, 1)
    assert modules[module_key(name)].weight.shape == (1, 1)


def test_ordinary_names_stay_as_they_are() -> None:
    assert module_key("dep_delay") == "dep_delay"


@pytest.mark.parametrize("name", ['a"b', "a\\", "a\nb", "a\rb", '"""', "a'b {c}"])
def test_keys_can_stand_in_the_code_of_a_graph(name: str) -> None:
    assert ast.literal_eval(f'"{module_key(name)}"') == module_key(name)
    assert tensor_name(f"encoders.{name}.weight") == f"encoders.{module_key(name)}.weight"


@given(st.lists(st.text(alphabet='a.%2E5keys"\\\n', min_size=1), unique=True))
def test_different_names_have_different_keys(names: list[str]) -> None:
    assert len({module_key(name) for name in names}) == len(names)
