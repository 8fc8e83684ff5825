from __future__ import annotations

import json
import re
import shlex
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trainwright_operator.children.ray_start_params import head_params, quoted, worker_params

from .child_specs import child_spec, sized


@pytest.mark.parametrize(
    ("shares", "per_pod", "gpus", "params"),
    [
        (None, 1, 0, {"num-cpus": "1", "num-gpus": "0"}),
        (None, 4, 8, {"num-cpus": "4", "num-gpus": "4"}),
        ({"CPU": 0.5, "GPU": 0.5}, 1, 8, {"num-cpus": "1", "num-gpus": "1"}),
        ({"CPU": 1.5}, 3, 0, {"num-cpus": "5", "num-gpus": "0"}),
        ({"CPU": 0}, 1, 0, {"num-cpus": "1", "num-gpus": "0"}),
        ({"memory": 1000}, 2, 0, {"num-cpus": "2", "num-gpus": "0"}),
        ({"ssd": 0.5}, 2, 0, {"num-cpus": "2", "num-gpus": "0", "resources": "'{\"ssd\": 1.0}'"}),
    ],
)
def test_a_node_offers_what_its_workers_need(
    shares: dict[str, float] | None, per_pod: int, gpus: int, params: dict[str, str]
) -> None:
    trainer = {"resources_per_worker": shares} if shares else None
    resolved = sized(8, per_pod, gpus)
    # The profile mig-1g.5gb.me is one of those that KubeRay does not recognise as a GPU.
    made = child_spec(
        "ray", backend_keys={"trainer": trainer or {}}, resolved=resolved, gpuResourceName="nvidia.com/mig-1g.5gb.me"
    )
    assert worker_params(made) == params


def test_the_head_offers_nothing() -> None:
    assert (head_params()["num-cpus"], head_params()["num-gpus"]) == ("0", "0")


@settings(deadline=None)
@given(st.dictionaries(st.text(st.characters(codec="utf-8"), min_size=1), st.integers(1, 9), max_size=3))
def test_no_name_gets_out_of_its_quotes(resources: dict[str, Any]) -> None:
    text = quoted(resources)
    (word,) = shlex.split(text)
    assert json.loads(word) == resources
    inside = text[1:-1]
    assert not re.search(r"[^A-Za-z0-9_.:/{}\", \\-]", inside)
