"""The schema of jobs.podTemplate follows from the CRD."""

from __future__ import annotations

from helm.generate.pod_template import definitions
from testkit.cluster.chart import ROOT

from trainwright_api.resource.kubernetes import PodTemplate, RoleTemplate

FOUND = definitions((ROOT / "crds" / "trainwright.dev_trainingjobs.yaml").read_text())


def names(model: type[RoleTemplate]) -> set[str]:
    return {field.alias or name for name, field in model.model_fields.items()}


def test_every_field_of_the_contract_is_known() -> None:
    assert set(FOUND["podTemplate"]["properties"]) == names(PodTemplate)
    assert set(FOUND["role"]["properties"]) == names(RoleTemplate)


def test_objects_are_closed_unless_kubernetes_keeps_their_keys() -> None:
    role = FOUND["role"]["properties"]
    assert role["resources"]["additionalProperties"] is False
    assert "additionalProperties" not in role["affinity"]
    assert "additionalProperties" not in role["volumes"]["items"]


def test_null_is_a_value_of_what_may_be_absent_and_no_keyword_is_kubernetes_own() -> None:
    role = FOUND["role"]["properties"]
    assert (role["imagePullPolicy"]["type"], role["imagePullPolicy"]["enum"][-1]) == (["string", "null"], None)
    assert role["volumes"]["items"]["properties"]["name"]["type"] == "string"
    assert "x-kubernetes" not in str(FOUND)
