"""The health check of TrainingJobs for Argo CD, run by the Lua interpreter of Argo CD."""

from __future__ import annotations

import re
from typing import Any

import pytest
from ruamel.yaml import YAML
from testkit.cluster.argocd_lua import answer
from testkit.cluster.chart import ROOT
from testkit.cluster.errors import ClusterError

READER = YAML(typ="safe")
SETTINGS = READER.load((ROOT / "helm" / "argocd" / "argocd-cm.yaml").read_text())["data"]
HEALTH = SETTINGS["resource.customizations.health.trainwright.dev_TrainingJob"]
ACTIONS = READER.load(SETTINGS["resource.customizations.actions.trainwright.dev_TrainingJob"])


def job(*conditions: str, observed: int = 3, suspend: bool = False) -> dict[str, Any]:
    """Of generation 3; a condition is true, or false where a `!` stands before it."""
    found = [
        {"type": name.removeprefix("!"), "status": "False" if name.startswith("!") else "True"} for name in conditions
    ]
    status = {"observedGeneration": observed, "message": "a line", "conditions": found}
    return {"metadata": {"generation": 3}, "spec": {"suspend": suspend}, "status": status}


@pytest.mark.parametrize(
    ("conditions", "word"),
    [
        (["Accepted"], "Progressing"),
        (["Accepted", "Started", "Running", "!Complete"], "Progressing"),
        (["Accepted", "Complete"], "Healthy"),
        (["Accepted", "Failed", "!Complete"], "Degraded"),
        (["!Accepted"], "Degraded"),
        (["Accepted", "Stalled"], "Degraded"),
        (["Accepted", "Suspended"], "Suspended"),
        (["Accepted", "Suspended", "Failed"], "Degraded"),
        (["!Accepted", "Complete"], "Healthy"),
    ],
)
def test_health_follows_from_the_conditions(conditions: list[str], word: str) -> None:
    assert answer(HEALTH, job(*conditions)) == {"status": word, "message": "a line"}


@pytest.mark.parametrize("condition", ["Complete", "Failed"])
def test_what_was_reported_of_an_older_generation_does_not_count(condition: str) -> None:
    assert answer(HEALTH, job(condition, observed=2))["status"] == "Progressing"


def test_a_job_without_a_status_is_on_its_way() -> None:
    assert answer(HEALTH, {"metadata": {"generation": 1}, "spec": {}})["status"] == "Progressing"


@pytest.mark.parametrize(
    ("conditions", "suspend", "offered"),
    [
        (["!Running"], False, {"suspend"}),
        (["Running"], False, {"suspend", "terminate"}),
        (["Suspended", "!Running"], True, {"resume"}),
        (["Complete", "!Running"], False, {"rerun"}),
        (["Failed"], False, {"rerun"}),
    ],
)
def test_what_can_be_done_is_offered(conditions: list[str], suspend: bool, offered: set[str]) -> None:
    found = answer(ACTIONS["discovery.lua"], job(*conditions, suspend=suspend))
    assert {name for name, action in found.items() if not action["disabled"]} == offered


@pytest.mark.parametrize(("name", "suspend"), [("suspend", True), ("resume", False)])
def test_an_action_writes_the_spec(name: str, suspend: bool) -> None:
    assert answer(script_of(name), job(suspend=not suspend))["spec"] == {"suspend": suspend}


def script_of(name: str) -> str:
    [script] = [one["action.lua"] for one in ACTIONS["definitions"] if one["name"] == name]
    return str(script)


def test_to_terminate_is_a_deadline_that_has_passed() -> None:
    assert answer(script_of("terminate"), job("Running"))["spec"]["activeDeadlineSeconds"] == 1


def test_to_run_again_is_a_new_job_of_the_same_spec() -> None:
    tracked = {"annotations": {"argocd.argoproj.io/tracking-id": "x"}, "uid": "u", "resourceVersion": "7"}
    before = {**job("Failed", suspend=True), "apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob"}
    before["metadata"] |= {"name": "flights", "namespace": "ml", **tracked}
    before["spec"]["activeDeadlineSeconds"] = 1
    found = answer(script_of("rerun"), before)["1"]
    assert found["operation"] == "create"
    made = found["resource"]
    assert set(made) == {"apiVersion", "kind", "metadata", "spec"}
    assert (made["kind"], made["spec"]) == ("TrainingJob", {"suspend": False}), "the deadline is that of terminate"
    assert set(made["metadata"]) == {"name", "namespace"}
    assert re.fullmatch("flights-20[0-9]{12}", made["metadata"]["name"])


def test_a_library_that_argo_cd_withholds_is_not_there() -> None:
    with pytest.raises(ClusterError, match="attempt to index"):
        answer('return {status = string.format("%s", obj.kind)}', {})
