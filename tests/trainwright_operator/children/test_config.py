from __future__ import annotations

import json
from typing import Any

import pytest

from trainwright_api.checks.load import inspected
from trainwright_api.resource.job import FIXED
from trainwright_api.resource.status import Resolved
from trainwright_operator.children import ChildSpec
from trainwright_operator.children.config import job_document

from .child_specs import BACKENDS, SPEC, child_spec, sized, support

OPERATORS_OWN: dict[str, Any] = {
    "image": "mine:1",
    "podTemplate": {"env": [{"name": "PASSWORD", "value": "hunter2"}]},
    "credentials": {"secretName": "keys"},
    "queueName": "gpus",
    "backoffLimit": 1,
    "ttlSecondsAfterFinished": 5,
    "suspend": False,
}


def spec_of(made: ChildSpec) -> dict[str, Any]:
    found: dict[str, Any] = job_document(made)["spec"]
    return found


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_file_is_a_job_that_the_trainer_reads(backend: str) -> None:
    made = child_spec(backend, backend_keys={"cache_credentials": {"key": "x"}}, **OPERATORS_OWN)
    read = inspected(support(made, "ConfigMap")["data"]["job.yaml"], "job.yaml").valid().job
    assert (read.metadata.name, read.metadata.namespace) == ("flights", "teams")
    assert read.spec.config == made.spec.config
    assert read.spec.backend.type == backend


def test_the_file_of_a_train_function_is_a_job_that_the_trainer_reads() -> None:
    given = {"entrypoint": {"module": "digits", "function": "train"}, "config": None, "dataset": None}
    made = child_spec("ray", resolved=sized(2), **given)
    read = inspected(support(made, "ConfigMap")["data"]["job.yaml"], "job.yaml").valid().job
    assert read.spec.entrypoint == made.spec.entrypoint
    assert read.spec.backend.trainer.num_workers == 2


def test_pods_get_every_field_that_is_fixed_once_a_job_has_started() -> None:
    given: dict[str, Any] = {
        "task": "experiment",
        "cache": {"maxBytes": 5},
        "callbacks": {"mlflow": {"trackingUri": "http://m:5000"}},
        "datasetOptions": {"format": "csv"},
        "report": {"maxSeconds": 5},
        "resumeFrom": "s3://b/r",
    }
    found = spec_of(child_spec(**given, checkpoint={"numToKeep": 5}, seed=7))
    assert {name: found[name] for name in given} == given
    assert set(FIXED) - set(found) == {"model", "entrypoint"}


def test_the_operators_own_stays_with_the_operator() -> None:
    assert not set(OPERATORS_OWN) & set(spec_of(child_spec(**OPERATORS_OWN)))


def test_what_was_resolved_is_written_in_where_the_file_leaves_it_open() -> None:
    resolved = Resolved(workers=8, workers_per_pod=4, gpus=8, seed=7, strategy="fsdp")
    spec = spec_of(child_spec("ray", resolved=resolved, backend_keys={"trainer": {"max_retries": 1}}))
    assert (spec["seed"], spec["workersPerPod"]) == (7, 4)
    assert spec["backend"]["trainer"] == {
        "max_retries": 1,
        "strategy": "fsdp",
        "use_gpu": True,
        "num_workers": 8,
        "resources_per_worker": {"CPU": 1, "GPU": 1},
    }


def test_what_the_file_says_stays() -> None:
    trainer = {
        "strategy": "ddp",
        "use_gpu": False,
        "num_workers": {"min": 1, "max": 4},
        "resources_per_worker": {"CPU": 2},
    }
    spec = spec_of(child_spec("ray", resolved=sized(3), backend_keys={"trainer": trainer}))
    assert spec["backend"]["trainer"] == trainer


def test_null_in_the_file_is_open_too() -> None:
    spec = spec_of(
        child_spec("ray", resolved=sized(3), backend_keys={"trainer": {"use_gpu": None, "num_workers": None}})
    )
    assert (spec["backend"]["trainer"]["use_gpu"], spec["backend"]["trainer"]["num_workers"]) == (False, 3)


def test_local_has_no_trainer_section() -> None:
    assert spec_of(child_spec("local"))["backend"] == {"type": "local"}


def test_dictionaries_of_keys_become_paths() -> None:
    keys = {
        "cache_credentials": {"key": "CANARY"},
        "credentials": {"datasets": {"key": "CANARY"}, "artifacts": "/etc/trainwright/credentials/a.json"},
    }
    backend = spec_of(child_spec(backend_keys=keys))["backend"]
    assert backend["cache_credentials"] == "/etc/trainwright/cache-credentials/cache_credentials.json"
    assert backend["credentials"] == {
        "datasets": "/etc/trainwright/cache-credentials/datasets.json",
        "artifacts": "/etc/trainwright/credentials/a.json",
    }


def test_a_path_of_keys_stays_a_path() -> None:
    path = "/etc/trainwright/credentials/cache.json"
    assert spec_of(child_spec(backend_keys={"cache_credentials": path}))["backend"]["cache_credentials"] == path


def test_the_certificate_authority_lies_beside_the_job_where_there_is_one() -> None:
    assert support(child_spec(ca="PEM"), "ConfigMap")["data"]["ca.crt"] == "PEM"
    assert list(support(child_spec(ca=""), "ConfigMap")["data"]) == ["job.yaml"]


def test_it_never_changes() -> None:
    assert support(child_spec(), "ConfigMap")["immutable"] is True


def test_a_job_that_is_large_still_fits() -> None:
    features = [{"name": f"column {index}", "type": "number"} for index in range(9000)]
    config = {"input_features": features, "output_features": [{"name": "late", "type": "binary"}]}
    made = child_spec(config=config)
    text = support(made, "ConfigMap")["data"]["job.yaml"]
    assert text.count("\n") == 1
    assert len(text) < len(json.dumps(job_document(made), indent=2)) / 2
    assert json.loads(text) == job_document(made)


@pytest.mark.parametrize("trainer", [{}, {"num_workers": 2, "resources_per_worker": {"CPU": 2}}])
def test_a_search_keeps_the_sizes_of_its_trials(trainer: dict[str, Any]) -> None:
    """The workers of all trials together are no part of the job of a trial."""
    rate = {"trainer.learning_rate": {"space": "uniform", "lower": 0.1, "upper": 1}}
    config = {**SPEC["config"], "hyperopt": {"parameters": rate, "executor": {"num_samples": 2}}}
    made = child_spec(
        "ray",
        stage="hyperopt",
        task="hyperopt",
        config=config,
        backend_keys={"trainer": trainer} if trainer else {},
        resolved=sized(4),
    )
    assert spec_of(made)["backend"].get("trainer", {}) == trainer
    assert inspected(support(made, "ConfigMap")["data"]["job.yaml"], "job.yaml").accepted().job.spec.task == "hyperopt"
