"""What is not built is refused at once, each gap in a line of its own; and the words are those of the registries."""

from __future__ import annotations

import pytest

from trainwright_api.config import decoders, encoders, losses
from trainwright_api.problems import Mistakes
from trainwright_api.validate import validate_document
from trainwright_trainer import built
from trainwright_trainer.built import refuse_unbuilt
from trainwright_trainer.combiners import COMBINERS
from trainwright_trainer.decoders import DECODERS
from trainwright_trainer.encoders import ENCODERS
from trainwright_trainer.features.registry import FEATURES
from trainwright_trainer.layers.normalisation import NORMS
from trainwright_trainer.losses import LOSSES
from trainwright_trainer.metrics.model import TYPES
from trainwright_trainer.optim.optimizers import BUILT as OPTIMIZERS
from trainwright_trainer.run import TRAINED
from trainwright_trainer.strategies import STRATEGIES

INPUT = {"name": "x", "type": "number"}
OUTPUT = {"name": "y", "type": "binary"}


def gaps(config=None, *, backend=None, **spec):
    """The lines that answer a job with these sections, without the words that all have in common."""
    config = {"input_features": [INPUT], "output_features": [OUTPUT], **(config or {})}
    job = {"dataset": "flights.csv", "config": config, "backend": backend or {}}
    loaded = validate_document(job, "job.yaml").job.spec
    try:
        refuse_unbuilt(loaded.model_copy(update=spec))
    except Mistakes as mistakes:
        lines = [str(problem) for problem in mistakes.problems]
        assert all(line.startswith("not built yet: ") for line in lines)
        return [line.removeprefix("not built yet: ") for line in lines]
    return []


def test_ray_takes_what_it_has():
    trainer = {"strategy": "ddp", "num_workers": 2, "resources_per_worker": {"CPU": 2}, "max_retries": 1}
    assert gaps(backend={"type": "ray", "trainer": trainer}) == []
    assert gaps(backend={"type": "ray", "processor": {"type": "pandas"}, "trainer": {"use_gpu": False}}) == []


def test_the_words_are_those_of_the_registries():
    assert set(built.BACKENDS) == set(TRAINED)
    assert set(built.STRATEGIES) == set(STRATEGIES)
    assert set(built.INPUTS) == set(FEATURES)
    assert set(built.OUTPUTS) == set(TYPES)
    assert set(built.DECODERS) == set(DECODERS)
    assert set(built.LOSSES) == set(LOSSES)
    assert set(built.OPTIMIZERS) == set(OPTIMIZERS)
    assert set(built.NORMS) == set(NORMS)
    assert {(kind, word) for kind, words in built.ENCODERS.items() for word in words} == set(ENCODERS)
    assert set(built.COMBINERS) == {section.model_fields["type"].default for section in COMBINERS}


@pytest.mark.parametrize(
    ("known", "words"),
    [
        pytest.param({w for t in built.INPUTS for w in encoders.ENCODERS[t]}, built.ENCODERS, id="encoders"),
        pytest.param({w for t in built.OUTPUTS for w in decoders.DECODERS[t]}, built.DECODERS, id="decoders"),
        pytest.param({w for t in built.OUTPUTS for w in losses.LOSSES[t]}, built.LOSSES, id="losses"),
    ],
)
def test_every_word_that_is_built_is_one_that_the_contract_knows(known, words):
    flat = {word for group in words.values() for word in group} if isinstance(words, dict) else set(words)
    assert flat <= known


def test_what_is_built_is_let_through():
    assert gaps() == []


def test_a_field_that_is_given_its_default_asks_for_nothing():
    given = {"active": True, "proc_column": None, "preprocessing": {"computed_fill_value": 0.0}}
    trainer = {"increase_batch_size_on_plateau": 0, "profiler": {"wait": 1}, "bucketing_field": None}
    assert gaps({"input_features": [{**INPUT, **given}], "trainer": trainer}) == []


def test_null_is_something_to_ask_for():
    trainer = {"max_batch_size": None, "gradient_clipping": None, "regularization_type": None}
    assert gaps({"combiner": {"activation": None}, "trainer": trainer}) == []


@pytest.mark.parametrize("word", sorted(set(losses.LOSSES["category"]) - set(built.LOSSES)))
def test_a_loss_that_the_contract_allows_and_nobody_has_built(word):
    output = {"name": "y", "type": "category", "loss": {"type": word}}
    expected = f"config.output_features[0].loss.type {word} (this version has {', '.join(built.LOSSES)})"
    assert gaps({"output_features": [output]}) == [expected]


def test_all_gaps_are_told_at_once():
    found = gaps(
        {
            "input_features": [{"name": "x", "type": "text"}, {**INPUT, "name": "z", "active": False}],
            "output_features": [{"name": "y", "type": "category", "loss": "corn", "calibration": True}],
            "combiner": "tabnet",
            "trainer": {"optimizer": "adam_8bit", "learning_rate": "auto", "eval_batch_size": "auto"},
            "preprocessing": {"split": {"type": "stratify", "column": "y"}},
        }
    )
    assert [line.split(" (")[0] for line in found] == [
        "config.preprocessing.split.type stratify",
        "config.combiner.type tabnet",
        "config.trainer.optimizer.type adam_8bit",
        "config.input_features[0].type text",
        "config.output_features[0].loss.type corn",
        "config.input_features[1].active",
        "config.output_features[0].calibration",
        "config.trainer.learning_rate auto",
        "config.trainer.eval_batch_size auto",
    ]


@pytest.mark.parametrize(
    ("config", "path"),
    [
        pytest.param({"combiner": {"norm": "ghost"}}, "combiner.norm", id="combiner"),
        pytest.param({"combiner": {"fc_layers": [{"norm": "ghost"}]}}, "combiner.fc_layers[0].norm", id="a layer"),
        pytest.param(
            {"input_features": [{**INPUT, "encoder": {"type": "dense", "norm": "ghost"}}]},
            "input_features[0].encoder.norm",
            id="encoder",
        ),
        pytest.param(
            {"output_features": [{**OUTPUT, "decoder": {"fc_norm": "ghost"}}]},
            "output_features[0].decoder.fc_norm",
            id="decoder",
        ),
        pytest.param(
            {"defaults": {"number": {"encoder": {"type": "dense", "norm": "ghost"}}}},
            "defaults.number.encoder.norm",
            id="defaults",
        ),
    ],
)
def test_ghost_norm_anywhere(config, path):
    assert gaps(config) == [f"config.{path} ghost (this version has batch, layer, null)"]


@pytest.mark.parametrize(
    ("defaults", "expected"),
    [
        pytest.param({"text": {"encoder": "bert"}}, "defaults.text", id="a type"),
        pytest.param({"category": {"loss": "corn"}}, "defaults.category.loss.type corn", id="a loss"),
        pytest.param({"category": {"encoder": {"vocab": ["a"]}}}, "defaults.category.encoder.vocab", id="a field"),
        pytest.param(
            {"number": {"preprocessing": {"computed_fill_value": 1.0}}},
            "defaults.number.preprocessing.computed_fill_value",
            id="a computed field",
        ),
    ],
)
def test_what_is_hidden_in_the_defaults(defaults, expected):
    (line,) = gaps({"defaults": defaults})
    assert line.split(" (")[0] == f"config.{expected}"


def test_a_search_is_one_gap():
    search = {"parameters": {"trainer.learning_rate": {"space": "uniform", "lower": 0, "upper": 1}}}
    assert gaps({"hyperopt": search}) == ["config.hyperopt"]


@pytest.mark.parametrize(
    ("backend", "expected"),
    [
        pytest.param({"type": "horovod"}, "backend.type horovod", id="another backend"),
        pytest.param({"type": "ray", "trainer": {"strategy": "fsdp"}}, "backend.trainer.strategy fsdp", id="strategy"),
        pytest.param({"type": "ray", "trainer": {"logdir": "logs"}}, "backend.trainer.logdir", id="logs"),
        pytest.param({"type": "ray", "processor": {"type": "dask"}}, "backend.processor.type dask", id="dask"),
        pytest.param({"type": "ray", "processor": {"type": "modin"}}, "backend.processor.type modin", id="modin"),
        pytest.param({"type": "ray", "processor": {"persist": False}}, "backend.processor.persist", id="dask's own"),
        pytest.param({"loader": {"fully_executed": False}}, "backend.loader.fully_executed false", id="streaming"),
        pytest.param({"loader": {"window_size_bytes": 9}}, "backend.loader.window_size_bytes", id="windows"),
        pytest.param({"cache_dir": "gs://bucket/cache"}, "backend.cache_dir gs://", id="a store"),
    ],
)
def test_what_a_backend_lacks(backend, expected):
    (line,) = gaps(backend=backend)
    assert line.split(" (")[0] == expected


def test_another_runs_folder_to_start_from():
    assert gaps(resume_from="out/other") == ["resumeFrom (this version resumes its own run, with --resume)"]
