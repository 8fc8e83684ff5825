from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from trainwright_trainer.layers.names import module_key


@pytest.mark.parametrize(
    "name", ["carrier", "Ünïcode name", "type", "keys", "forward", "training", "a.b", "50%", "%keys"]
)
def test_any_name_can_be_a_modules(name: str) -> None:
    modules = nn.ModuleDict()
    modules[module_key(name)] = nn.Linear(1, 1)
    assert modules[module_key(name)].weight.shape == (1, 1)


def test_ordinary_names_stay_as_they_are() -> None:
    assert module_key("dep_delay") == "dep_delay"


@given(st.lists(st.text(alphabet="a.%2E5keys", min_size=1), unique=True))
def test_different_names_have_different_keys(names: list[str]) -> None:
    assert len({module_key(name) for name in names}) == len(names)
