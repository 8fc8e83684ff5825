"""The CRD: its form, its strictness, and the traps between pydantic and Kubernetes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest

from trainwright_api.generate.crd import crd, schema
from trainwright_api.resource.kubernetes import ROLES
from trainwright_api.yaml.nodes import read

CRD = read(crd()).data
SCHEMA = schema()
SPEC = SCHEMA["properties"]["spec"]["properties"]
KEEPS = "x-kubernetes-preserve-unknown-fields"


def nodes(schema: Any, path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every field of a schema with its path."""
    yield path, schema
    for name, below in schema.get("properties", {}).items():
        yield from nodes(below, f"{path}.{name}".removeprefix("."))
    for name in ("items", "additionalProperties"):
        if name in schema:
            yield from nodes(schema[name], f"{path}[]")


ALL = dict(nodes(SCHEMA))


def test_the_yaml_says_what_the_schema_says() -> None:
    assert CRD["spec"]["versions"][0]["schema"]["openAPIV3Schema"] == SCHEMA
    assert CRD["metadata"]["name"] == "trainingjobs.trainwright.dev"


def test_names_and_columns_are_those_that_people_type_and_see() -> None:
    names, version = CRD["spec"]["names"], CRD["spec"]["versions"][0]
    assert (names["shortNames"], names["categories"]) == (["tj"], ["all"])
    columns = version["additionalPrinterColumns"]
    assert [column["name"] for column in columns if "priority" not in column] == [
        "PHASE",
        "PROGRESS",
        "METRIC",
        "WORKERS",
        "ATTEMPT",
        "AGE",
    ]
    assert [column["name"] for column in columns if "priority" in column] == ["STRATEGY", "EPOCH", "ETA", "MESSAGE"]
    assert version["subresources"] == {"status": {}}


def test_a_column_shows_a_field_of_the_schema() -> None:
    for column in CRD["spec"]["versions"][0]["additionalPrinterColumns"]:
        path = column["jsonPath"].removeprefix(".")
        assert path == "metadata.creationTimestamp" or ALL[path]["type"] == column["type"]


def test_every_field_is_described() -> None:
    fields = {path: node for path, node in ALL.items() if path != "metadata" and not path.endswith("[]")}
    assert [path for path, node in fields.items() if not node.get("description")] == []


def test_the_schema_is_structural() -> None:
    for path, node in ALL.items():
        assert node.get("type") or node.get(KEEPS) or node.get("x-kubernetes-int-or-string"), path
        assert not node.keys() & {"$ref", "const", "oneOf", "allOf", "title", "discriminator", "patternProperties"}, (
            path
        )
        assert not {"properties", "additionalProperties"} <= node.keys(), path
        assert node.get("additionalProperties") is not False, path


def test_every_text_list_and_mapping_has_a_bound() -> None:
    bounds = {"string": ("maxLength", "enum", "format"), "array": ("maxItems",)}
    for path, node in ALL.items():
        wanted = bounds.get(node.get("type", ""), ())
        assert not wanted or node.keys() & set(wanted) or path in ("apiVersion", "kind"), path
        assert "additionalProperties" not in node or "maxProperties" in node, path


def test_a_mapping_that_may_be_absent_may_be_null() -> None:
    """Server-side apply makes null of one that is emptied."""
    mappings = {path: node for path, node in ALL.items() if node.get("type") == "object" and not path.endswith("[]")}
    assert {path for path, node in mappings.items() if not node.get("nullable")} == {"", "metadata", "spec", "status"}


def test_a_keyed_list_has_its_key() -> None:
    keyed = {path: node for path, node in ALL.items() if node.get("x-kubernetes-list-type") == "map"}
    assert {"status.conditions", "status.attempts", "spec.podTemplate.volumes"} <= keyed.keys()
    for node in keyed.values():
        assert set(node["x-kubernetes-list-map-keys"]) <= set(node["items"]["required"])


def test_patterns_mean_the_same_to_go_and_to_python() -> None:
    for path, node in ALL.items():
        pattern = node.get("pattern", "")
        assert re.compile(pattern), path
        assert not re.search(r"\\[wdsbB]|\(\?[=!<]|\\\d", pattern), path


@pytest.mark.parametrize("name", ["config", "backend"])
def test_pydantic_alone_judges_what_lies_below_config_and_backend(name: str) -> None:
    """Rules see only what has a type, so the section itself has one."""
    (_, section), *below = nodes(SPEC[name])
    assert section["type"] == "object"
    assert len(below) > 10
    assert all(node.keys() <= {KEEPS, "nullable", "description", "properties", "items"} for _, node in below)
    assert all(node[KEEPS] and node["nullable"] for _, node in below)


def test_explain_shows_the_type_and_the_default_where_the_schema_does_not() -> None:
    descriptions = {path: node["description"] for path, node in ALL.items() if "description" in node}
    trainer, features = "spec.config.trainer", "spec.config.output_features[]"
    assert descriptions["spec.seed"].endswith(" [default: 42]")
    assert descriptions["spec.workersPerPod"].endswith(" [a whole number of at least 1, or auto; default: 1]")
    assert descriptions["spec.podTemplate.resources.limits"].endswith(" [each a quantity such as 500m, 2 or 16Gi]")
    assert descriptions["spec.backend.type"].endswith(" [default: local]")
    assert descriptions[f"{trainer}.epochs"].endswith(" [whole number ≥ 1; default: 100]")
    assert descriptions[f"{trainer}.precision"].endswith(" [one of float32, tf32, float64; default: float32]")
    assert descriptions[f"{trainer}.validation_field"].endswith(" [text]")
    assert "[" not in descriptions[trainer] + descriptions["spec.dataset"] + descriptions["spec.config.prompt"]
    assert descriptions[f"{features}.type"].startswith("One of category, binary, ")
    assert "[" not in descriptions[f"{features}.decoder"] + descriptions[f"{features}.default_validation_metric"]


def test_the_fields_of_kubernetes_are_strict() -> None:
    places = ("podTemplate", *(f"podTemplate.{role}" for role in ROLES))
    contexts = ("affinity", "securityContext", "containerSecurityContext", "topologySpreadConstraints[]")
    open_by_nature = {"entrypoint.config", *(f"{place}.{name}" for place in places for name in contexts)}
    strict = {name: SPEC[name] for name in SPEC if name not in ("config", "backend")}
    found = {path for name, node in strict.items() for path, below in nodes(node, name) if below.get(KEEPS)}
    partly = ("volumes[]", "env[].valueFrom", "initContainers[]")
    assert found - open_by_nature == {f"{place}.{name}" for place in places for name in partly}


def test_only_marked_defaults_are_written_into_objects() -> None:
    stored = {path: node["default"] for path, node in ALL.items() if "default" in node}
    assert stored == {
        "spec.task": "train",
        "spec.suspend": False,
        "spec.backoffLimit": 3,
        "spec.preemptionLimit": 100,
        "spec.ttlPolicy": "DeleteChildren",
    }


def test_a_number_or_a_word_is_kubernetes_own_union() -> None:
    assert SPEC["workersPerPod"]["x-kubernetes-int-or-string"]
    assert (SPEC["workersPerPod"]["minimum"], SPEC["workersPerPod"]["pattern"]) == (1, "^(auto)$")


@pytest.mark.parametrize("name", ["dataset", "config", "backend"])
def test_what_a_started_job_is_made_of_is_fixed(name: str) -> None:
    rule = next(rule for rule in SCHEMA["x-kubernetes-validations"] if rule["message"].startswith(f"{name} is fixed"))
    assert f"self.spec.{name} == oldSelf.spec.{name}" in rule["rule"]
    assert "delete the job and create it anew" in rule["message"]


def test_a_spec_says_exactly_one_thing_to_do() -> None:
    rules = SCHEMA["properties"]["spec"]["x-kubernetes-validations"]
    assert any("exists_one" in rule["rule"] and "exactly one" in rule["message"] for rule in rules)


def test_the_api_server_takes_the_word_ludwig_for_a_trainer_section() -> None:
    """As it takes `combiner: concat`: a place without a type, whose properties are those of an object."""
    trainer = SPEC["config"]["properties"]["trainer"]
    assert "type" not in trainer
    assert trainer[KEEPS] is True
    assert "learning_rate" in trainer["properties"]
