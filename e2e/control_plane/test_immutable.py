"""Most of a job's spec is immutable after its start: the API server itself checks the rules."""

from __future__ import annotations

import asyncio
import copy
import json
import time
from collections.abc import Mapping
from typing import Any

import pytest
from testkit.api import Api, ApiError
from testkit.api.resource import TRAINING_JOBS
from testkit.cluster.cluster import Cluster
from testkit.contract import jobs

from trainwright_api.checks.cluster import changed, validate_job
from trainwright_api.resource.job import FIXED, TrainingJobSpec, fixed

STARTED = {"startTime": "2026-05-01T12:00:00Z"}
OF_A_CONFIG = jobs.plain(
    task="experiment",
    config=jobs.RICH_CONFIG,
    backend=jobs.RICH_BACKEND,
    datasetOptions={"delimiter": ";", "naValues": ["?"]},
    resumeFrom="s3://bucket/runs/other",
    output="s3://bucket/runs",
    seed=7,
    checkpoint={"numToKeep": 5},
    cache={"maxBytes": 10**9},
    report={"maxSeconds": 5},
    callbacks={"mlflow": {"experimentName": "a"}},
)
OF_A_MODEL = jobs.plain(task="predict", model="s3://bucket/model")
OF_A_FUNCTION = jobs.plain(
    entrypoint={"module": "m", "function": "f", "config": {"rate": {"warm": 1}, "layers": [1, None]}}
)
for other in (OF_A_MODEL, OF_A_FUNCTION):
    del other["spec"]["config"]

CHANGES: Mapping[str, Any] = {
    "task": "preprocess",
    "dataset": "s3://bucket/other.parquet",
    "datasetOptions": {"delimiter": "|", "naValues": ["?"]},
    "config": {**jobs.RICH_CONFIG, "trainer": {**jobs.RICH_CONFIG["trainer"], "epochs": "3"}},
    "model": "s3://bucket/other",
    "entrypoint": {**OF_A_FUNCTION["spec"]["entrypoint"], "function": "g"},
    "resumeFrom": "s3://bucket/runs/another",
    "backend": {**jobs.RICH_BACKEND, "trainer": {**jobs.RICH_BACKEND["trainer"], "num_workers": 8}},
    "output": "s3://bucket/elsewhere",
    "seed": 8,
    "checkpoint": {"numToKeep": 6},
    "cache": {"maxBytes": 10**10},
    "report": {"maxSeconds": 6},
    "callbacks": {"mlflow": {"experimentName": "b"}},
}
OPTIONAL = ("datasetOptions", "resumeFrom", "backend", "output", "seed", "checkpoint", "cache", "report", "callbacks")
"""A job without one of these fields is valid too."""
OTHERS: Mapping[str, Any] = {
    "config": OF_A_FUNCTION,
    "entrypoint": OF_A_CONFIG,
    "model": OF_A_CONFIG,
    "dataset": {**OF_A_FUNCTION, "spec": {"entrypoint": OF_A_FUNCTION["spec"]["entrypoint"]}},
}
"""For each field, a valid job without it."""
FREE: Mapping[str, Any] = {
    "suspend": True,
    "backoffLimit": 9,
    "preemptionLimit": 9,
    "resizeLimit": 9,
    "activeDeadlineSeconds": 9,
    "startDeadlineSeconds": 9,
    "ttlSecondsAfterFinished": 9,
    "ttlPolicy": "DeleteJob",
    "image": "other",
    "rayVersion": "2.56.1",
    "podTemplate": {"env": [{"name": "A", "value": "b"}]},
    "childMetadata": {"labels": {"team": "a"}},
    "credentials": {"secretName": "other"},
    "queueName": "other",
    "gpuResourceName": "nvidia.com/mig-1g.10gb",
    "workersPerPod": "auto",
}


class Jobs:
    """The jobs of a namespace."""

    def __init__(self, cluster: Cluster, namespace: str) -> None:
        self._cluster, self._namespace = cluster, namespace

    def create(self, made: Any, name: str = "job", status: Any = None) -> Any:
        async def run(api: Api) -> Any:
            named = {**made, "metadata": {"name": name}}
            created = await api.create(TRAINING_JOBS, named, self._namespace)
            return await api.patch_status(TRAINING_JOBS, name, self._namespace, status) if status else created

        return self._run(run)

    def refusal(self, stored: Any, spec: Any) -> str:
        """Return the reason why the spec cannot replace the stored one. Nothing is changed."""

        async def run(api: Api) -> str:
            path = TRAINING_JOBS.path(self._namespace, stored["metadata"]["name"])
            try:
                await api.request("PUT", path, {**stored, "spec": spec}, dryRun="All", fieldValidation="Strict")
            except ApiError as error:
                if error.code != 422:
                    raise
                return error.message
            return ""

        return str(self._run(run))

    def _run(self, what: Any) -> Any:
        async def run() -> Any:
            async with Api(self._cluster.kubeconfig) as api:
                return await what(api)

        return asyncio.run(run())


@pytest.fixture
def there(cluster: Cluster, namespace: str) -> Jobs:
    return Jobs(cluster, namespace)


def without(spec: Any, key: str) -> Any:
    return {name: value for name, value in spec.items() if name != key}


def base_with(key: str) -> Any:
    return next(made for made in (OF_A_CONFIG, OF_A_MODEL, OF_A_FUNCTION) if key in made["spec"])


def test_the_changes_speak_of_every_field() -> None:
    assert set(CHANGES) == set(FIXED)
    assert set(CHANGES) | set(FREE) == set(TrainingJobSpec.known_keys())


@pytest.mark.parametrize("key", FIXED)
def test_a_fixed_field_of_a_started_job_cannot_be_changed(there: Jobs, key: str) -> None:
    started = there.create(base_with(key), status=STARTED)
    assert there.refusal(started, started["spec"]) == ""
    denied = there.refusal(started, {**started["spec"], key: CHANGES[key]})
    assert f"spec.{key}: Invalid value" in denied
    assert fixed(key) in denied


@pytest.mark.parametrize("key", [key for key in FIXED if key != "task"])
def test_nor_be_removed_nor_added(there: Jobs, key: str) -> None:
    """A task cannot be absent, because its default comes back."""
    base = base_with(key)
    started = there.create(base, status=STARTED)
    assert fixed(key) in there.refusal(started, without(started["spec"], key))
    lacking = {**base, "spec": without(base["spec"], key)} if key in OPTIONAL else OTHERS[key]
    bare = there.create(lacking, "bare", STARTED)
    assert fixed(key) in there.refusal(bare, {**bare["spec"], key: CHANGES[key]})


def test_what_does_not_make_the_result_can_be_changed_at_any_time(there: Jobs) -> None:
    started = there.create(OF_A_CONFIG, status=STARTED)
    for key, value in FREE.items():
        assert there.refusal(started, {**started["spec"], key: value}) == "", key
    full = there.create({**OF_A_CONFIG, "spec": {**OF_A_CONFIG["spec"], **FREE}}, "full", STARTED)
    for key in FREE:
        assert there.refusal(full, without(full["spec"], key)) == "", key


def test_before_the_start_everything_can_be_changed(there: Jobs) -> None:
    for number, made in enumerate((OF_A_CONFIG, OF_A_MODEL, OF_A_FUNCTION)):
        waiting = there.create(made, f"job-{number}", {"phase": "Pending"})
        for key in FIXED:
            if key in made["spec"] and key != "task":
                assert there.refusal(waiting, {**waiting["spec"], key: CHANGES[key]}) == "", key
        for other in (OF_A_CONFIG, OF_A_MODEL, OF_A_FUNCTION):
            assert there.refusal(waiting, other["spec"]) == ""


def test_nulls_are_compared_too(there: Jobs) -> None:
    """A rule fails on a null if the schema does not allow one."""
    made = copy.deepcopy(OF_A_CONFIG)
    made["spec"]["config"] |= {"combiner": None, "input_features": [None, {"name": None}], "trainer": None}
    started = there.create(made, status=STARTED)
    assert started["spec"]["config"] == made["spec"]["config"]
    assert there.refusal(started, {**started["spec"], "suspend": True}) == ""
    changed_spec = copy.deepcopy(started["spec"])
    changed_spec["config"]["input_features"][1]["name"] = "a"
    assert fixed("config") in there.refusal(started, changed_spec)


@pytest.mark.parametrize("key", ["config", "backend"])
def test_the_rules_do_not_see_a_renamed_key_that_the_schema_does_not_declare(there: Jobs, key: str) -> None:
    """CEL's equality ignores it, so the operator itself compares the spec with the started one."""
    section = {**OF_A_CONFIG["spec"][key], "first": 1}
    started = there.create({**OF_A_CONFIG, "spec": {**OF_A_CONFIG["spec"], key: section}}, status=STARTED)
    stored = started["spec"][key]
    renamed = {"second" if name == "first" else name: value for name, value in stored.items()}
    assert there.refusal(started, {**started["spec"], key: renamed}) == ""
    assert fixed(key) in there.refusal(started, {**started["spec"], key: {**stored, "first": 2}})
    assert validate_job(started).digest != validate_job({**started, "spec": {**started["spec"], key: renamed}}).digest


def test_nor_one_in_what_a_function_is_called_with_which_the_operator_sees(there: Jobs) -> None:
    started = there.create(OF_A_FUNCTION, status=STARTED)
    spec = copy.deepcopy(started["spec"])
    spec["entrypoint"]["config"]["rates"] = spec["entrypoint"]["config"].pop("rate")
    assert there.refusal(started, spec) == ""
    old, new = (TrainingJobSpec.model_validate(one) for one in (started["spec"], spec))
    assert changed(old, new) == ("entrypoint",)


def test_a_config_of_1000_features_is_compared_in_time(there: Jobs, capsys: pytest.CaptureFixture[str]) -> None:
    """The API server limits the cost of the rules, and refuses an object that exceeds it."""
    feature = jobs.RICH_CONFIG["input_features"][0]
    wide = {**jobs.RICH_CONFIG, "input_features": [{**feature, "name": f"column_{number}"} for number in range(1000)]}
    started = there.create({**OF_A_CONFIG, "spec": {**OF_A_CONFIG["spec"], "config": wide}}, status=STARTED)
    other = copy.deepcopy(started["spec"])
    other["config"]["input_features"][-1]["encoder"]["embedding_size"] = 9
    began = time.perf_counter()
    assert there.refusal(started, {**started["spec"], "suspend": True}) == ""
    taken = time.perf_counter() - began
    assert fixed("config") in there.refusal(started, other)
    with capsys.disabled():
        print(f"\na change beside a config of 1,000 features ({len(json.dumps(wide)):,} bytes): {taken * 1000:.0f} ms")


def test_the_rules_fit_their_budget_for_the_largest_maps(there: Jobs) -> None:
    key = "a" * 200
    labels = {f"{key}.{number}/name": "v" * 63 for number in range(64)}
    limits = {f"{key}.{number}/name": "1" for number in range(32)}
    template = {
        **dict.fromkeys(("labels", "annotations", "nodeSelector"), labels),
        "resources": {"limits": limits, "requests": limits},
    }
    made = {**OF_A_CONFIG, "spec": {**OF_A_CONFIG["spec"], "podTemplate": template}}
    started = there.create(made, status=STARTED)
    assert there.refusal(started, {**started["spec"], "suspend": True}) == ""
