from __future__ import annotations

from typing import Any

import pytest

from trainwright_operator.controller.stale_fields import stale_fields

PODS = {"progress": True, "resolved": {"batch_size": True}}


@pytest.mark.parametrize(
    ("found", "wanted", "pointers"),
    [
        pytest.param({"phase": "Failed"}, {"phase": "Running"}, [], id="another value"),
        pytest.param({"phase": "Running", "message": "x"}, {"phase": "Running"}, ["/message"], id="a field"),
        pytest.param({"resolved": {"gpus": 1}}, {"resolved": {}}, ["/resolved/gpus"], id="of a part"),
        pytest.param({"testScores": {"a/~": 1}}, {"testScores": {}}, ["/testScores/a~1~0"], id="an odd name"),
        pytest.param({"progress": {"epoch": 1}}, {}, [], id="of the pods"),
        pytest.param(
            {"resolved": {"batchSize": 8, "gpus": 1}}, {"resolved": {}}, ["/resolved/gpus"], id="of the pods in part"
        ),
        pytest.param({"resolved": {"batchSize": 8, "gpus": 1}}, {}, ["/resolved/gpus"], id="but for the pods' part"),
        pytest.param(
            {"attempts": [{"number": 1, "createTime": "x"}, {"number": 2}]},
            {"attempts": [{"number": 1}, {"number": 2}]},
            ["/attempts/0/createTime"],
            id="of an item",
        ),
        pytest.param(
            {"attempts": [{"number": 7}, {"number": 1}, {"number": 8}, {"number": 2, "child": "c"}]},
            {"attempts": [{"number": 1}, {"number": 2}]},
            ["/attempts/3/child", "/attempts/2", "/attempts/0"],
            id="items, from the end",
        ),
        pytest.param(
            {"conditions": [{"type": "Mine"}, {"type": "Running"}]},
            {"conditions": [{"type": "Running"}]},
            ["/conditions/0"],
            id="a condition",
        ),
        pytest.param({"conditions": [{"type": "Mine"}]}, {}, ["/conditions"], id="the whole list"),
    ],
)
def test_what_was_not_applied(found: Any, wanted: Any, pointers: list[str]) -> None:
    assert list(stale_fields(found, wanted, PODS)) == pointers
