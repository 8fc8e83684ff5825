"""The objects of `helm test`, and the job that it trains."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML
from testkit.cluster.chart import CHART, ROOT, Helm

from trainwright_api.checks.cluster import validate_job
from trainwright_operator.policies.forbidden import refusal
from trainwright_operator.settings import Settings
from trainwright_trainer import api

FILES = ROOT / CHART / "files/test"


def rendered(helm: Helm, *values: str) -> dict[str, Any]:
    found = helm.rendered("--show-only=templates/tests/train.yaml", *values)
    return {one["kind"]: one for one in YAML(typ="safe").load_all(found)}


@pytest.mark.parametrize(("values", "namespace"), [((), "trainwright"), (("--set=namespaces={ml,web}",), "ml")])
def test_its_objects_are_hooks_in_the_namespace_of_the_job(helm: Helm, values: tuple[str, ...], namespace: str) -> None:
    found = rendered(helm, *values)
    assert set(found) == {"ConfigMap", "ServiceAccount", "Role", "RoleBinding", "Pod"}
    assert {one["metadata"]["annotations"]["helm.sh/hook"] for one in found.values()} == {"test"}
    assert {one["metadata"]["namespace"] for one in found.values()} == {namespace}
    pod = found["Pod"]["spec"]
    assert pod["containers"][0]["command"][-2:] == [namespace, "/test/job.yaml"]
    assert found["ConfigMap"]["data"] == {path.name: path.read_text() for path in FILES.iterdir()}


def test_its_job_is_valid_and_allowed_by_the_defaults() -> None:
    job = YAML(typ="safe").load((FILES / "job.yaml").read_text())
    found = validate_job({**job, "metadata": {**job["metadata"], "namespace": "ml", "uid": "u"}})
    assert found.spec is not None, found.message
    assert refusal(found.spec, Settings().policy, Settings().image, "trainwright-test") == ""


def test_its_job_trains(tmp_path: Path) -> None:
    job = YAML(typ="safe").load((FILES / "job.yaml").read_text())["spec"]
    (tmp_path / "table.csv").write_text((FILES / "table.csv").read_text())
    job = {"config": job["config"], "dataset": str(tmp_path / "table.csv")}
    assert api.train(job, output=tmp_path / "out").test["late"]
