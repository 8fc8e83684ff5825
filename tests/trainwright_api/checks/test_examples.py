"""A value in the place of a section gets the section that it probably stands for."""

from __future__ import annotations

from typing import Any

import pytest

from trainwright_api.checks.examples import example
from trainwright_api.checks.validate import inspect
from trainwright_api.config.trainer import GradientClipping, LearningRateScheduler
from trainwright_api.resource.backend import BackendTrainer, Loader, Processor, WorkerRange
from trainwright_api.resource.job import CredentialsReference, ReportPolicy, TrainingJobSpec
from trainwright_api.schema.section import Section


@pytest.mark.parametrize(
    ("section", "value", "text"),
    [
        pytest.param(Processor, "dask", "{type: dask}", id="a type"),
        pytest.param(LearningRateScheduler, "cosine", "{decay: cosine}", id="a word"),
        pytest.param(GradientClipping, 1.0, "{clipglobalnorm: 1.0}", id="a number"),
        pytest.param(ReportPolicy, True, "{baselines: true}", id="a flag"),
        pytest.param(CredentialsReference, "s3-keys", "{secretName: s3-keys}", id="a required key"),
        pytest.param(WorkerRange, 4, "{max: 4}", id="a required key and not the first"),
        pytest.param(BackendTrainer, "logs", "{strategy: …}", id="a path for a key that is not built"),
        pytest.param(Loader, "all", "{fully_executed: …}", id="nothing that fits"),
        pytest.param(CredentialsReference, "a: b", "{secretName: …}", id="a text that needs quotes"),
        pytest.param(CredentialsReference, "x" * 99, "{secretName: …}", id="a long text"),
        pytest.param(Processor, ["dask"], "", id="a list"),
        pytest.param(TrainingJobSpec, None, "", id="nothing"),
        pytest.param(Section, 3, "", id="a section without keys"),
    ],
)
def test_the_first_key_that_accepts_the_value_is_shown(section: type[Section], value: Any, text: str) -> None:
    assert example(section, value) == text


def test_the_line_about_a_value_has_the_example() -> None:
    config = {
        "input_features": ["age"],
        "output_features": [{"name": "left", "type": "binary"}],
        "trainer": {"gradient_clipping": 1.0, "optimizer": 3, "profiler": None},
    }
    spec = {"dataset": "d", "config": config, "backend": {"type": "ray", "processor": "dask"}}
    assert [str(problem) for problem in inspect(spec, "job.yaml").mistakes] == [
        "config.input_features[0]: expected keys and values, as in {name: age, type: …}, found the text 'age'",
        "config.trainer.gradient_clipping: expected keys and values, as in {clipglobalnorm: 1.0}, found the number 1.0",
        "config.trainer.optimizer: expected the name of an optimizer, or keys and values, found the number 3",
        "config.trainer.profiler: expected keys and values, found nothing (null)",
        "backend.processor: expected keys and values, as in {type: dask}, found the text 'dask'",
    ]
