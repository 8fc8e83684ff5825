"""The Kubernetes half of a job: what it may say, and in which words it is refused."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.checks.validate import validate_document
from trainwright_api.problems import Mistakes

SMALL = {"input_features": [{"name": "a", "type": "number"}], "output_features": [{"name": "b", "type": "binary"}]}
HEAD = {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": "small"}}

ZERO = {"type": "ray", "processor": {"type": "pandas"}, "trainer": {"strategy": "deepspeed"}}


def with_zero(**trainer: Any) -> dict[str, Any]:
    return {"config": {**SMALL, "trainer": trainer}, "backend": ZERO}


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a queue whose name is too long for a label": (
        {"config": SMALL, "queueName": "q" * 64},
        f"queueName: expected at most 63 characters, found the text '{'q' * 50}…",
    ),
    "a clipping that DeepSpeed has not": (
        with_zero(gradient_clipping={"clipnorm": 1.0}),
        "config.trainer.gradient_clipping.clipnorm: strategy deepspeed clips by the norm of all gradients only: "
        "use clipglobalnorm",
    ),
    "float64 with DeepSpeed": (
        with_zero(precision="float64"),
        "config.trainer.precision: strategy deepspeed keeps float32 master weights: use float32",
    ),
    "mixed precision with DeepSpeed": (
        with_zero(use_mixed_precision=True),
        "config.trainer.use_mixed_precision: with strategy deepspeed, set bf16 or fp16 in backend.trainer.strategy "
        "instead",
    ),
    "compile with DeepSpeed": (
        with_zero(compile=True),
        "config.trainer.compile: acts with strategies ddp, fsdp and horovod only, not with deepspeed",
    ),
    "activation checkpointing in ZeRO stage 3": (
        {
            "config": {**SMALL, "trainer": {"enable_gradient_checkpointing": True}},
            "backend": {
                "type": "ray",
                "trainer": {"strategy": {"type": "deepspeed", "zero_optimization": {"stage": 3}}},
            },
        },
        "config.trainer.enable_gradient_checkpointing: does not act in ZeRO stage 3: use stage 2, or strategy fsdp",
    ),
    "mixed precision twice": (
        {
            "config": {**SMALL, "trainer": {"use_mixed_precision": True}},
            "backend": {"type": "ray", "trainer": {"strategy": {"type": "fsdp", "mp_policy": {}}}},
        },
        "config.trainer.use_mixed_precision: backend.trainer.strategy.mp_policy is set too: choose one",
    ),
    "FSDP's mixed precision with float64": (
        {
            "config": {**SMALL, "trainer": {"precision": "float64"}},
            "backend": {"type": "ray", "trainer": {"strategy": {"type": "fsdp", "mp_policy": {}}}},
        },
        "config.trainer.precision: mixed precision (backend.trainer.strategy.mp_policy) needs float32",
    ),
    "a config and a model": (
        {"config": SMALL, "model": "m"},
        "model: given beside config: exactly one of config, model and entrypoint says what to do",
    ),
    "nothing to do": ({}, "config: missing: exactly one of config, model and entrypoint says what to do"),
    "prediction without a model": (
        {"task": "predict", "config": SMALL},
        "config: task predict needs a trained model: give model instead of config",
    ),
    "training of a model": (
        {"model": "m"},
        "model: acts with task evaluate or predict, not with train: give a config instead",
    ),
    "an unknown task": (
        {"task": "trian", "config": SMALL},
        "task: expected train, evaluate, predict, experiment, preprocess or hyperopt, found the text 'trian': "
        "did you mean 'train'?",
    ),
    "a key in snake_case": (
        {"config": SMALL, "resume_from": "x"},
        "resume_from: unknown: did you mean 'resumeFrom'?",
    ),
    "a key that is near another": (
        {"config": SMALL, "ouput": "x"},
        "ouput: unknown: did you mean 'output'?",
    ),
    "a key that is near none": (
        {"config": SMALL, "zzz": "x"},
        "zzz: unknown; spec has task, dataset, datasetOptions, config, model, entrypoint, resumeFrom, backend, output, "
        "seed, checkpoint, cache, report, callbacks, … (30 in all)",
    ),
    "a word for workers": (
        {"config": SMALL, "workersPerPod": "all"},
        "workersPerPod: expected a whole number of at least 1, or auto, found the text 'all'",
    ),
    "a negative limit": (
        {"config": SMALL, "backoffLimit": -1},
        "backoffLimit: expected at least 0, found the number -1",
    ),
    "a version that is a number": (
        {"config": SMALL, "rayVersion": 2.5},
        "rayVersion: expected a text, found the number 2.5",
    ),
    "an upper-case name": (
        {"config": SMALL, "credentials": {"secretName": "Keys"}},
        "credentials.secretName: expected a name of lowercase letters, digits, - and . (as in my-secret), "
        "found the text 'Keys'",
    ),
    "one volume twice": (
        {"config": SMALL, "podTemplate": {"volumes": [{"name": "v", "emptyDir": {}}, {"name": "v"}]}},
        "podTemplate.volumes[1].name: 'v' is in the list already",
    ),
    "a quantity of none": (
        {"config": SMALL, "podTemplate": {"resources": {"limits": {"memory": "4Gb"}}}},
        "podTemplate.resources.limits.memory: expected a quantity such as 500m, 2 or 16Gi, found the text '4Gb'",
    ),
    "a score without a split": (
        {"config": SMALL, "checkpoint": {"scoreAttribute": "loss"}},
        "checkpoint.scoreAttribute: expected a split (training, validation or test), a dot and a metric, as in "
        "validation.loss, found 'loss': did you mean 'validation.loss'?",
    ),
    "a list for a section": (
        {"config": SMALL, "checkpoint": []},
        "checkpoint: expected keys and values, found a list",
    ),
}


@pytest.mark.parametrize(("spec", "line"), REFUSED.values(), ids=REFUSED.keys())
def test_a_mistake_draws_one_line(spec: dict[str, Any], line: str) -> None:
    with pytest.raises(Mistakes) as caught:
        validate_document({**HEAD, "spec": {"dataset": "d", **spec}}, "small.yaml")
    assert [str(problem) for problem in caught.value.problems] == [line]


@pytest.mark.parametrize(
    ("resource", "line"),
    [
        ({**HEAD, "kind": "Job"}, "kind: expected TrainingJob, found the text 'Job'"),
        ({**HEAD, "metadata": {}}, "metadata.name: missing: the job needs a name"),
        ({key: HEAD[key] for key in HEAD if key != "apiVersion"}, "apiVersion: missing: it must be given"),
        ({**HEAD, "metadta": {}}, "metadta: unknown: did you mean 'metadata'? "
         "the file has apiVersion, kind, metadata, spec, status"),
    ],
    ids=["another kind", "no name", "no version", "an unknown key"],
)  # fmt: skip
def test_the_frame_of_a_resource_is_judged_too(resource: dict[str, Any], line: str) -> None:
    with pytest.raises(Mistakes) as caught:
        validate_document({**resource, "spec": {"dataset": "d", "config": SMALL}}, "small.yaml")
    assert [str(problem) for problem in caught.value.problems] == [line]


def test_all_mistakes_come_at_once_in_the_order_of_the_file() -> None:
    spec = {
        "seed": -1,
        "config": {**SMALL, "trainer": {"epochs": "3", "batch": 4}},
        "backend": {"type": "local", "trainer": {"strategy": "ddp"}},
        "suspend": "no",
        "dataset": 5,
    }
    with pytest.raises(Mistakes) as caught:
        validate_document({**HEAD, "spec": spec}, "small.yaml")
    assert [problem.path for problem in caught.value.problems] == [
        "seed",
        "config.trainer.epochs",
        "config.trainer.batch",
        "backend.trainer.strategy",
        "suspend",
        "dataset",
    ]


def test_defaults_are_those_of_the_design() -> None:
    spec = validate_document({**HEAD, "spec": {"dataset": "d", "config": SMALL}}, "small.yaml").job.spec
    assert (spec.task, spec.seed, spec.backend.type, spec.workers_per_pod) == ("train", 42, "local", 1)
    assert (spec.backoff_limit, spec.preemption_limit, spec.ttl_policy) == (3, 100, "DeleteChildren")
    assert spec.resize_limit == 100
    policy = spec.checkpoint
    assert (policy.num_to_keep, policy.score_attribute, policy.score_order) == (3, "validation.loss", "min")
    assert policy.every_seconds == 300
