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
    found = trial_job(JOB, "job", "0003", {"trainer.learning_rate": 1e-05})
    assert found["metadata"] == {"name": "job-0003"}
    assert (found["spec"]["task"], found["spec"]["seed"]) == ("train", 7)
    assert found["spec"]["config"]["trainer"] == {"learning_rate": 1e-05}
    assert "hyperopt" not in found["spec"]["config"]
    assert "hyperopt" in JOB["spec"]["config"]


def test_its_text_is_read_as_the_same_job():
    values = {"trainer.learning_rate": 1.2345678901234567e-05, "trainer.epochs": 3, "size.encoder": {"type": "dense"}}
    found = trial_job(JOB, "job", "0003", values)
    again = load.loads(trial_text(found), "job.yaml").job
    assert load.canonical(again) == found


def test_a_long_name_leaves_room_for_the_trial():
    name = trial_job(JOB, "a" * 49 + "-" + "b" * 13, "0001", {})["metadata"]["name"]
    assert name == "a" * 49 + "-0001"
