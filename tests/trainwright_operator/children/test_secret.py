from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from trainwright_operator.children import child, shared_objects
from trainwright_operator.children.secret import secret

from .child_specs import BACKENDS, child_spec, support

CANARY = "canary-5f1d"
KEYS = st.sampled_from(["key", "secret", "client_kwargs", "token"])
DICTIONARIES = st.dictionaries(
    KEYS,
    st.recursive(st.just(CANARY), lambda inner: st.lists(inner, max_size=2) | st.dictionaries(KEYS, inner, max_size=2)),
    min_size=1,
    max_size=3,
)
PLACES = ("cache_credentials", "default", "datasets", "artifacts", "cache")


@st.composite
def backends_with_keys(draw: st.DrawFn) -> tuple[str, dict[str, Any]]:
    found = draw(st.dictionaries(st.sampled_from(PLACES), DICTIONARIES, min_size=1))
    if "cache_credentials" in found:
        found.pop("cache", None)
    own = {"cache_credentials": found.pop("cache_credentials")} if "cache_credentials" in found else {}
    section = {**own, **({"credentials": found} if found else {})}
    return draw(st.sampled_from(BACKENDS)), section


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(backends_with_keys())
def test_a_key_stands_in_its_file_of_the_secret_and_nowhere_else(generated: tuple[str, dict[str, Any]]) -> None:
    backend, section = generated
    made = child_spec(backend, backend_keys=section)
    holding = [manifest["kind"] for manifest in (*shared_objects(made), child(made)) if CANARY in json.dumps(manifest)]
    assert holding == (["Secret"] if CANARY in json.dumps(section) else [])
    files = support(made, "Secret")["stringData"]
    keys = {"cache_credentials": section.get("cache_credentials"), **section.get("credentials", {})}
    assert {name: json.loads(text) for name, text in files.items()} == {
        f"{name}.json": dictionary for name, dictionary in keys.items() if dictionary
    }


@pytest.mark.parametrize("keys", [{}, {"cache_credentials": "/etc/trainwright/credentials/cache.json"}])
def test_no_keys_no_secret(keys: dict[str, Any]) -> None:
    made = child_spec(backend_keys=keys)
    assert secret(made) is None
    assert [manifest["kind"] for manifest in shared_objects(made)] == ["ConfigMap"]
