"""The job of a trial is the job of the search with other values, and can be read again."""

from __future__ import annotations

from trainwright_api.checks import load
from trainwright_trainer.search.trial_job import trial_job, trial_text

JOB = {
    "apiVersion": "trainwright.dev/v1alpha1",
    "kind": "TrainingJob",
    "metadata": {"name": "job", "labels": {"a": "b"}},
    "spec": {
        "task": "hyperopt",
        "dataset": "data.csv",
        "seed": 7,
        "config": {
            "input_features": [{"name": "size", "type": "number"}],
            "output_features": [{"name": "late", "type": "binary"}],
            "hyperopt": {"parameters": {"trainer.learning_rate": {"space": "uniform", "lower": 0, "upper": 1}}},
        },
    },
}


def test_it_trains_with_the_values_and_without_the_search():
    found = trial_job(JOB, "job", "0003", {"trainer.learning_rate": 1e-05}, "local")
    assert found["metadata"] == {"name": "job-0003"}
    assert (found["spec"]["task"], found["spec"]["seed"]) == ("train", 7)
    assert found["spec"]["config"]["trainer"] == {"learning_rate": 1e-05}
    assert "hyperopt" not in found["spec"]["config"]
    assert "hyperopt" in JOB["spec"]["config"]


def test_its_text_is_read_as_the_same_job():
    values = {"trainer.learning_rate": 1.2345678901234567e-05, "trainer.epochs": 3, "size.encoder": {"type": "dense"}}
    found = trial_job(JOB, "job", "0003", values, "local")
    again = load.loads(trial_text(found), "job.yaml").job
    assert load.canonical(again) == found


def test_a_long_name_leaves_room_for_the_trial():
    name = trial_job(JOB, "a" * 49 + "-" + "b" * 13, "0001", {}, "local")["metadata"]["name"]
    assert name == "a" * 49 + "-0001"


def test_a_trial_of_one_process_is_a_job_for_one_machine_and_a_gang_one_for_ray():
    backend = {"type": "ray", "cache_dir": "cache", "trainer": {"num_workers": 2}, "loader": {"fully_executed": False}}
    job = {**JOB, "spec": {**JOB["spec"], "backend": backend}}
    alone, gang = (trial_job(job, "job", "0001", {}, word)["spec"]["backend"] for word in ("local", "ray"))
    assert alone == {"type": "local", "cache_dir": "cache", "loader": {"fully_executed": False}}
    assert gang == backend
