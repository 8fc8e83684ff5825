"""The schema follows from the defaults and the rules."""

from __future__ import annotations

import json
from typing import Any

import pytest
from helm.generate import schema
from helm.generate.values import values


def schema_of(text: str) -> dict[str, Any]:
    return dict(json.loads(schema.of(values(text), {"part": {"type": "string"}})))


@pytest.mark.parametrize(
    ("default", "kind"),
    [
        ("true", {"type": "boolean"}),
        ("2", {"type": "number", "minimum": 0}),
        ("0.5", {"type": "number", "minimum": 0}),
        ('""', {"type": "string"}),
        ("[]", {"type": "array"}),
        ("{}", {"type": "object"}),
    ],
)
def test_the_type_is_that_of_the_default(default: str, kind: dict[str, Any]) -> None:
    found = schema_of(f"# A value.\nsome: {default}\n")
    assert found["properties"]["some"] == {"description": "A value.", **kind}


def test_a_rule_goes_before_the_default() -> None:
    found = schema_of('# A value.\n# @ {"type": ["number", "null"]}\nsome: 1\n')
    assert found["properties"]["some"]["type"] == ["number", "null"]


def test_no_other_key_is_known_at_any_depth() -> None:
    found = schema_of("above:\n  # A value.\n  some: 1\n")
    assert found["additionalProperties"] is found["properties"]["above"]["additionalProperties"] is False


def test_a_rule_may_refer_to_a_definition() -> None:
    found = schema_of('# A value.\n# @ {"$ref": "#/definitions/part"}\nsome: a\n')
    assert found["properties"]["some"]["$ref"] == "#/definitions/part"
    assert found["definitions"] == {"part": {"type": "string"}}
