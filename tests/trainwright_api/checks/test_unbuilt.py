"""Each part that is not built gets one line, beside all mistakes."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from trainwright_api.checks.cluster import validate_job
from trainwright_api.checks.validate import Options, inspect
from trainwright_api.problems import Mistakes, Problem

INPUT = {"name": "x", "type": "number"}
OUTPUT = {"name": "y", "type": "binary"}
CONFIG = {"input_features": [INPUT], "output_features": [OUTPUT]}


def inspected(config: Any = None, *, backend: Any = None, over: str | None = None, **spec: Any) -> Any:
    job = {"dataset": "flights.csv", "config": {**CONFIG, **(config or {})}, "backend": backend or {}, **spec}
    return inspect(job, "job.yaml", options=Options(backend=over))


def gaps(config: Any = None, **more: Any) -> list[str]:
    """Return the unbuilt parts of a valid job, without the common words of the lines."""
    found = inspected(config, **more)
    assert found.mistakes == ()
    lines = [str(problem) for problem in found.unbuilt]
    assert all(": not built yet" in line for line in lines)
    return [line.replace(": not built yet", "", 1) for line in lines]


def test_ray_takes_what_it_has() -> None:
    trainer = {"strategy": "ddp", "num_workers": {"min": 1, "max": 4}, "resources_per_worker": {"CPU": 2}}
    assert gaps({"trainer": {"effective_batch_size": 64}}, backend={"type": "ray", "trainer": trainer}) == []
    assert gaps(backend={"type": "ray", "processor": {"type": "pandas"}, "trainer": {"use_gpu": False}}) == []
    assert gaps(backend={"type": "ray", "processor": {"parallelism": 9, "persist": False}}) == []


def test_on_another_backend_of_the_command_line_only_what_acts_there_counts() -> None:
    backend = {"type": "ray", "trainer": {"logdir": "logs"}}
    assert len(gaps(backend=backend)) == 1
    assert gaps(backend=backend, over="local") == []


def test_what_is_built_is_let_through() -> None:
    assert gaps() == []


def test_a_field_that_is_given_its_default_asks_for_nothing() -> None:
    given = {"active": True, "proc_column": None, "preprocessing": {"computed_fill_value": 0.0}}
    trainer = {"increase_batch_size_on_plateau": 0, "profiler": {"wait": 1}, "bucketing_field": None}
    assert gaps({"input_features": [{**INPUT, **given}], "trainer": trainer}) == []


def test_of_a_section_each_field_counts() -> None:
    assert gaps({"trainer": {"profiler": {"wait": 2, "warmup": 1}}}) == ["config.trainer.profiler.wait: 2"]


def test_null_is_something_to_ask_for() -> None:
    trainer = {"max_batch_size": None, "gradient_clipping": None, "regularization_type": None}
    assert gaps({"combiner": {"activation": None}, "trainer": trainer}) == []


def test_a_word_is_reported_with_those_that_are_built_in_its_place() -> None:
    output = {"name": "y", "type": "category", "loss": {"type": "corn"}}
    expected = "config.output_features[0].loss.type: corn (this version has softmax_cross_entropy)"
    assert gaps({"output_features": [output]}) == [expected]


def test_all_gaps_are_reported_at_once() -> None:
    found = gaps(
        {
            "input_features": [{"name": "x", "type": "h3"}, {**INPUT, "name": "z", "active": False}],
            "output_features": [{"name": "y", "type": "category", "loss": "corn"}],
            "trainer": {"optimizer": "adam_8bit", "learning_rate": "auto", "eval_batch_size": "auto"},
            "preprocessing": {"global_max_sequence_length": 9},
        }
    )
    assert [line.split(" (")[0] for line in found] == [
        "config.input_features[0].type: h3",
        "config.input_features[1].active: false",
        "config.output_features[0].loss: corn",
        "config.trainer.optimizer: adam_8bit",
        "config.trainer.learning_rate: auto",
        "config.trainer.eval_batch_size: auto",
        "config.preprocessing.global_max_sequence_length: 9",
    ]


@pytest.mark.parametrize(
    ("defaults", "expected"),
    [
        pytest.param({"category": {"loss": "corn"}}, "defaults.category.loss: corn", id="a loss"),
        pytest.param({"category": {"encoder": {"vocab": ["a"]}}}, "defaults.category.encoder.vocab", id="a field"),
        pytest.param(
            {"number": {"preprocessing": {"computed_fill_value": 1.0}}},
            "defaults.number.preprocessing.computed_fill_value: 1.0",
            id="a computed field",
        ),
    ],
)
def test_what_is_hidden_in_the_defaults(defaults: Any, expected: str) -> None:
    features = [{"name": f"{role}_{kind}", "type": kind} for role in ("in", "out") for kind in ("category", "number")]
    (line,) = gaps({"input_features": features[:2], "output_features": features[2:], "defaults": defaults})
    assert line.split(" (")[0] == f"config.{expected}"


def test_the_gaps_of_a_search_count_for_its_task_alone() -> None:
    search = {"parameters": {"trainer.learning_rate": {"space": "uniform", "lower": 0.1, "upper": 1}}}
    assert gaps({"hyperopt": search}, task="hyperopt") == []
    assert gaps({"hyperopt": {**search, "search_alg": "skopt"}}) == []
    (line,) = gaps({"hyperopt": {**search, "search_alg": "skopt"}}, task="hyperopt")
    assert line.startswith("config.hyperopt.search_alg: skopt (Ray Tune has removed it; this version has random")


@pytest.mark.parametrize(
    ("backend", "expected"),
    [
        pytest.param({"type": "ray", "trainer": {"logdir": "logs"}}, "backend.trainer.logdir", id="logs"),
        pytest.param({"cache_dir": "hdfs://bucket/cache"}, "backend.cache_dir: hdfs://", id="a store"),
    ],
)
def test_what_a_backend_lacks(backend: Any, expected: str) -> None:
    (line,) = gaps(backend=backend)
    assert line.split(" (")[0] == expected


def test_a_secret_in_the_value_is_not_repeated() -> None:
    assert "key" not in str(inspected(output="abfs://key:key@host/runs").unbuilt)


def test_a_type_from_the_defaults_says_what_a_section_may_hold() -> None:
    feature = {"name": "a", "type": "category", "encoder": {"embeddings_on_cpu": True}}
    found = gaps({"input_features": [feature], "defaults": {"category": {"encoder": "sparse"}}})
    assert found == ["config.input_features[0].encoder.embeddings_on_cpu: true"]


def test_mistakes_and_gaps_are_reported_together() -> None:
    found = inspected(
        {"preprocessing": {"global_max_sequence_length": 9}, "trainer": {"epochs": "3", "optimizer": "lbfgs"}}, seed=-1
    )
    with pytest.raises(Mistakes) as caught:
        found.accepted()
    assert [problem.path for problem in caught.value.problems] == [
        "config.trainer.epochs",
        "seed",
        "config.preprocessing.global_max_sequence_length",
        "config.trainer.optimizer",
    ]


def test_what_is_a_mistake_is_not_reported_as_a_gap_too() -> None:
    found = inspected(
        {"combiner": "sequence_concatt", "trainer": {"optimizer": {"type": 3}}, "output_features": "text"}
    )
    assert found.unbuilt == ()
    assert {problem.path for problem in found.mistakes} == {
        "config.combiner",
        "config.trainer.optimizer.type",
        "config.output_features",
    }


@pytest.mark.parametrize("config", [None, 5, [], {"trainer": [1]}, {"input_features": [None, {"type": ["text"]}]}])
def test_what_is_malformed_is_passed_over(config: Any) -> None:
    job = {"dataset": "flights.csv", "config": config, "backend": "ray"}
    assert inspect(job, "job.yaml").unbuilt == ()


def test_a_path_is_reported_as_the_file_has_it() -> None:
    found = gaps({"training": {"profiler": {"wait": 2}}}, backend={"type": "ray", "trainer": {"logdir": "logs"}})
    paths = ["config.training.profiler.wait", "backend.trainer.logdir"]
    assert [line.split(" ")[0].rstrip(":") for line in found] == paths


UNBUILT: dict[str, Any] = {
    "apiVersion": "trainwright.dev/v1alpha1",
    "kind": "TrainingJob",
    "metadata": {"name": "late"},
    "spec": {
        "dataset": "s3://bucket/flights.csv",
        "output": "s3://bucket/runs",
        "config": {**CONFIG, "preprocessing": {"global_max_sequence_length": 9}},
    },
}
LINE = "config.preprocessing.global_max_sequence_length: not built yet: 9"


def changed(**spec: Any) -> dict[str, Any]:
    made = copy.deepcopy(UNBUILT)
    made["spec"].update(spec)
    return made


def test_a_cluster_refuses_it_in_the_same_words() -> None:
    assert validate_job(UNBUILT).message == f"late: {LINE}"
    assert validate_job(UNBUILT).message == Mistakes(inspect(UNBUILT, "late").unbuilt).render("late")


def test_a_cluster_shows_it_beside_what_pods_cannot_reach() -> None:
    unbuilt, _, line = LINE.partition(": ")
    assert validate_job(changed(dataset="here.csv")).message.splitlines() == [
        "late: 2 mistakes",
        f"  {'dataset':{len(unbuilt)}}  pods do not see 'here.csv': give a URI, as in s3://bucket/data, or a path on a "
        "volume (podTemplate.volumeMounts)",
        f"  {unbuilt}  {line}",
    ]


def test_a_job_with_its_own_image_is_warned() -> None:
    """Its trainer may be newer. What is a mistake stays one."""
    result = validate_job(changed(image="mine:2"))
    assert result.spec is not None
    assert result.warnings == (f"{LINE}; image mine:2 must have it",)
    assert (
        validate_job(changed(image="mine:2", seed=-1)).message == "late: seed: expected at least 0, found the number -1"
    )


def test_a_job_that_another_version_has_started_goes_on() -> None:
    """Its image is the one that it was started with."""
    result = validate_job({**UNBUILT, "status": {"startTime": "2026-05-01T12:00:00Z"}})
    assert result.spec is not None
    assert result.warnings == (f"{LINE}; it was started by another version",)
    assert result.digest == validate_job(changed(image="mine:2")).digest


def test_problems_of_the_same_place_are_equal_for_all() -> None:
    assert inspect(UNBUILT, "x").unbuilt == (Problem(*LINE.split(": ", 1)),)


def test_defaults_of_a_type_that_no_feature_has_need_no_support() -> None:
    config = {"input_features": [{"name": "a", "type": "number"}], "output_features": [{"name": "b", "type": "binary"}]}
    defaults = {"h3": {"preprocessing": {"fill_value": 3}}}
    assert inspect({"dataset": "d", "config": {**config, "defaults": defaults}}, "a.yaml").unbuilt == ()
    config["input_features"].append({"name": "t", "type": "h3"})
    found = inspect({"dataset": "d", "config": {**config, "defaults": defaults}}, "a.yaml")
    assert [gap.path for gap in found.unbuilt] == ["config.input_features[1].type", "config.defaults.h3"]


def test_the_loss_of_a_type_needs_support_where_an_output_has_it() -> None:
    features = {"input_features": [{"name": "a", "type": "category"}]}
    job = {**features, "defaults": {"category": {"loss": "corn"}}}
    assert gaps({**job, "output_features": [{"name": "b", "type": "binary"}]}) == []
    assert len(gaps({**job, "output_features": [{"name": "b", "type": "category"}]})) == 1
