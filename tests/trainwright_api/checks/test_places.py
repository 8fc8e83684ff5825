"""An unknown key gets its section, or the nearest name that acts there."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.checks.validate import inspect

CONFIG: dict[str, Any] = {
    "input_features": [{"name": "age", "type": "number"}],
    "output_features": [{"name": "left", "type": "binary"}],
}
SPEC: dict[str, Any] = {"dataset": "customers.csv", "config": CONFIG}
BARE: dict[str, Any] = {"dataset": "customers.csv", **CONFIG}


def in_config(**more: Any) -> dict[str, Any]:
    return {**SPEC, "config": {**CONFIG, **more}}


MISPLACED: dict[str, tuple[dict[str, Any], str]] = {
    "a section of the config": (
        {**SPEC, "trainer": {"epochs": 3}},
        "trainer: unknown here: it belongs in config",
    ),
    "workers": ({**SPEC, "trainer": {"num_workers": 3}}, "trainer: unknown here: it belongs in backend"),
    "one of two sections": ({**SPEC, "trainer": {}}, "trainer: unknown here: it belongs in config or backend"),
    "a field of the trainer": ({**SPEC, "epochs": 3}, "epochs: unknown here: it belongs in config.trainer"),
    "a field of the backend's trainer": (
        {**SPEC, "backend": {"type": "ray", "num_workers": 2}},
        "backend.num_workers: unknown here: it belongs in backend.trainer",
    ),
    "a field of the other trainer": (
        in_config(trainer={"num_workers": 2}),
        "config.trainer.num_workers: unknown here: it belongs in backend.trainer",
    ),
    "a section of the backend": (
        {**SPEC, "loader": {"fully_executed": False}},
        "loader: unknown here: it belongs in backend",
    ),
    "a section of the backend in a Ludwig file": (
        {**BARE, "processor": {"type": "dask"}},
        "config.processor: unknown here: it belongs in backend",
    ),
    "a field of the spec in the config": (
        in_config(task="train"),
        "config.task: unknown here: it belongs in the spec, beside config",
    ),
    "the data in the backend": (
        {"config": CONFIG, "backend": {"dataset": "customers.csv"}},
        "backend.dataset: unknown here: it belongs in the spec, beside backend",
    ),
    "the data beside the spec": (
        {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", "metadata": {"name": "a"}, "dataset": "d"}
        | {"spec": {"config": CONFIG}},
        "dataset: unknown here: it belongs in spec",
    ),
    "the inputs beside the config": (
        {
            "dataset": "customers.csv",
            "config": {"output_features": CONFIG["output_features"]},
            "input_features": CONFIG["input_features"],
        },
        "input_features: unknown here: it belongs in config",
    ),
    "the seed by its name in Ludwig": ({**SPEC, "random_seed": 3}, "random_seed: unknown: did you mean 'seed'?"),
    "the seed by its name in the spec": ({**BARE, "seed": 3}, "config.seed: unknown: did you mean 'random_seed'?"),
    "a type, which each section has": (
        in_config(trainer={"optimizer": "adam"}, preprocessing={"split": "random"}, type="ray"),
        "config.type: unknown; config has model_type, input_features, output_features, combiner, trainer, "
        "preprocessing, defaults, hyperopt, ludwig_version, backend, random_seed, dataset, datasetOptions",
    ),
}
MISSPELT: dict[str, tuple[dict[str, Any], str]] = {
    "the data of a Ludwig file": ({**CONFIG, "datset": "x.csv"}, "config.datset: unknown: did you mean 'dataset'?"),
    "the backend of a Ludwig file": ({**BARE, "backnd": {}}, "config.backnd: unknown: did you mean 'backend'?"),
    "the seed of a Ludwig file": ({**BARE, "random_sed": 3}, "config.random_sed: unknown: did you mean 'random_seed'?"),
    "what is not built": (
        in_config(promt={}),
        "config.promt: unknown; config has model_type, input_features, output_features, combiner, trainer, "
        "preprocessing, defaults, hyperopt, ludwig_version, backend, random_seed, dataset, datasetOptions",
    ),
}


@pytest.mark.parametrize(("data", "line"), {**MISPLACED, **MISSPELT}.values(), ids={**MISPLACED, **MISSPELT}.keys())
def test_an_unknown_key_draws_one_line_with_its_place(data: dict[str, Any], line: str) -> None:
    assert [str(problem) for problem in inspect(data, "job.yaml").mistakes] == [line]
