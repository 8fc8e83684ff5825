"""Relations between features, between the fields of a section, and between sections."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from trainwright_api.config import ModelConfig


def config(inputs: list[Any] | None = None, outputs: list[Any] | None = None, **rest: Any) -> dict[str, Any]:
    """A small config; features are given as (name, type, other fields)."""
    return {
        "input_features": [_feature(*item) for item in inputs or [("a", "number"), ("b", "text")]],
        "output_features": [_feature(*item) for item in outputs or [("y", "binary")]],
        **rest,
    }


def _feature(name: str, kind: str, other: dict[str, Any] | None = None) -> dict[str, Any]:
    return {"name": name, "type": kind, **(other or {})}


def mistakes(value: dict[str, Any]) -> dict[str, str]:
    """Path → message."""
    with pytest.raises(ValidationError) as caught:
        ModelConfig.model_validate(value)
    return {".".join(map(str, line["loc"])): line["msg"] for line in caught.value.errors()}


NUMBERS = [("a", "number"), ("b", "number")]
RING = [("x", "number", {"dependencies": ["y"]}), ("y", "number", {"dependencies": ["x"]})]

CACHED = {"preprocessing": {"cache_encoder_embeddings": True}}
TRAINED = {"encoder": {"type": "bert", "trainable": True}}
FROZEN = {"encoder": {"type": "bert", "trainable": False}}

TABLE: list[tuple[str, dict[str, Any], str, str]] = [
    (
        "cached embeddings of an encoder that is trained",
        config([("b", "text", {**CACHED, **TRAINED})]),
        "input_features.0.preprocessing.cache_encoder_embeddings",
        "and so is encoder.trainable",
    ),
    (
        "the same from the defaults",
        config([("b", "text", TRAINED)], defaults={"text": CACHED}),
        "input_features.0.preprocessing.cache_encoder_embeddings",
        "and so is encoder.trainable",
    ),
    (
        "cached embeddings of an encoder that learns its own",
        config([("b", "text", {**CACHED, "encoder": {"type": "embed"}})]),
        "input_features.0.preprocessing.cache_encoder_embeddings",
        "'embed' is always trained",
    ),
    (
        "cached embeddings of an encoder with an adapter",
        config([("b", "text", {**CACHED, "encoder": {"type": "bert", "adapter": {"type": "lora"}}})]),
        "input_features.0.preprocessing.cache_encoder_embeddings",
        "encoder.adapter is trained",
    ),
    (
        "cached embeddings of a trained encoder of images",
        config([("p", "image", {**CACHED, "encoder": {"type": "resnet"}})]),
        "input_features.0.preprocessing.cache_encoder_embeddings",
        "and so is encoder.trainable",
    ),
    (
        "cached embeddings of an encoder of images that learns its own",
        config([("p", "image", CACHED)]),
        "input_features.0.preprocessing.cache_encoder_embeddings",
        "'stacked_cnn' is always trained",
    ),
    (
        "cached embeddings of images that are augmented",
        config([("p", "image", {**CACHED, "encoder": {"type": "resnet", "trainable": False}, "augmentation": True})]),
        "input_features.0.preprocessing.cache_encoder_embeddings",
        "augmentation changes the images in each epoch",
    ),
    (
        "a model of another family",
        config([("p", "image", {"encoder": {"type": "caformer", "model_name": "resnet18"}})]),
        "input_features.0.encoder.model_name",
        "is no caformer",
    ),
    (
        "same name twice",
        config([("a", "number"), ("a", "text")]),
        "input_features.1.name",
        "taken by input_features[0]",
    ),
    ("same output twice", config(outputs=NUMBERS[:1] * 2), "output_features.1.name", "a target that is also an input"),
    ("target is input", config(outputs=[("a", "number")]), "output_features.0.name", "a target that is also an input"),
    (
        "target's column is an input's",
        config(outputs=[("y", "number", {"column": "a"})]),
        "output_features.0.column",
        "input_features[0] is column 'a' too",
    ),
    (
        "target is the column of an input of another name",
        config([("a", "number", {"column": "y"})]),
        "output_features.0.name",
        "a target that is also an input",
    ),
    (
        "output is called as an input of another column",
        config([("y", "number", {"column": "a"})]),
        "output_features.0.name",
        "taken by input_features[0]",
    ),
    ("tied to nobody", config([("a", "number", {"tied": "q"})]), "input_features.0.tied", "no other input feature"),
    ("tied to itself", config([("a", "number", {"tied": "a"})]), "input_features.0.tied", "no other input feature"),
    (
        "tied to another type",
        config([("a", "number", {"tied": "b"}), ("b", "text")]),
        "input_features.0.tied",
        "only equal types share an encoder",
    ),
    (
        "tied in a ring",
        config([("a", "number", {"tied": "b"}), ("b", "number", {"tied": "c"}), ("c", "number", {"tied": "b"})]),
        "input_features.1.tied",
        "inputs are tied in a ring, so none has the encoder: b → c → b",
    ),
    (
        "depends on an input",
        config(outputs=[("y", "binary", {"dependencies": ["a"]})]),
        "output_features.0.dependencies.0",
        "no other output feature",
    ),
    (
        "depends on itself",
        config(outputs=[("y", "binary", {"dependencies": ["y"]})]),
        "output_features.0.dependencies.0",
        "no other output feature",
    ),
    ("depends in a ring", config(outputs=RING), "output_features.0.dependencies", "in a ring: x → y → x"),
    ("no such field", config(trainer={"validation_field": "a"}), "trainer.validation_field", "combined"),
    (
        "no such metric of the output",
        config(trainer={"validation_field": "y", "validation_metric": "r2"}),
        "trainer.validation_metric",
        "'r2' is no metric of y",
    ),
    (
        "no such metric of any output",
        config(trainer={"validation_metric": "r2"}),
        "trainer.validation_metric",
        "'r2' is no metric of any output",
    ),
    (
        "all outputs together have the loss alone",
        config(trainer={"validation_field": "combined", "validation_metric": "roc_auc"}),
        "trainer.validation_metric",
        "expected one of loss",
    ),
    (
        "both ways of counting rounds",
        config(trainer={"steps_per_checkpoint": 10, "checkpoints_per_epoch": 2}),
        "trainer.checkpoints_per_epoch",
        "not both",
    ),
    (
        "batches that do not divide",
        config(trainer={"effective_batch_size": 100, "batch_size": 30}),
        "trainer.effective_batch_size",
        "100 is no multiple of batch_size 30",
    ),
    (
        "accumulated batches that do not divide",
        config(trainer={"effective_batch_size": 100, "batch_size": 10, "gradient_accumulation_steps": 4}),
        "trainer.effective_batch_size",
        "batch_size 10 × gradient_accumulation_steps 4",
    ),
    (
        "more than the greatest batch",
        config(trainer={"effective_batch_size": 128, "max_batch_size": 64}),
        "trainer.effective_batch_size",
        "above max_batch_size 64",
    ),
    (
        "half precision of double precision",
        config(trainer={"use_mixed_precision": True, "precision": "float64"}),
        "trainer.precision",
        "half precision",
    ),
    (
        "two kinds of warm-up",
        config(trainer={"learning_rate_scheduler": {"warmup_fraction": 0.1, "warmup_evaluations": 1}}),
        "trainer.learning_rate_scheduler.warmup_fraction",
        "not both",
    ),
    (
        "nesterov without momentum",
        config(trainer={"optimizer": {"type": "sgd", "nesterov": True}}),
        "trainer.optimizer.nesterov",
        "needs a momentum",
    ),
    (
        "both ways of balancing",
        config(preprocessing={"oversample_minority": 0.5, "undersample_majority": 0.5}),
        "preprocessing.undersample_majority",
        "not both",
    ),
    (
        "balance of a number",
        config(outputs=[("y", "number")], preprocessing={"oversample_minority": 0.5}),
        "preprocessing.oversample_minority",
        "only where the one output is binary",
    ),
    (
        "buckets by no input",
        config(trainer={"bucketing_field": "nothing"}),
        "trainer.bucketing_field",
        "nothing",
    ),
    (
        "buckets by a number",
        config(inputs=[("x", "number")], trainer={"bucketing_field": "x"}),
        "trainer.bucketing_field",
        "'x' is of type number: the rows of a sequence and of a text differ in length",
    ),
    (
        "buckets in the order of the source",
        config(inputs=[("x", "text")], trainer={"bucketing_field": "x", "should_shuffle": False}),
        "trainer.bucketing_field",
        "should_shuffle is false",
    ),
    (
        "Longformer in float64",
        config(inputs=[("x", "text", {"encoder": "longformer"})], trainer={"precision": "float64"}),
        "trainer.precision",
        "longformer (input_features[0]) has no finite gradients in float64: use float32",
    ),
    ("hash of nothing", config(preprocessing={"split": "hash"}), "preprocessing.split.column", "needs a column"),
    ("strata of nothing", config(preprocessing={"split": "stratify"}), "preprocessing.split.column", "needs a column"),
    ("time of nothing", config(preprocessing={"split": "datetime"}), "preprocessing.split.column", "needs a column"),
    (
        "a number of layers and other layers",
        config(combiner={"num_fc_layers": 2, "fc_layers": [{}]}),
        "combiner.num_fc_layers",
        "fc_layers lists 1",
    ),
    (
        "parameters of no norm",
        config(combiner={"norm_params": {"eps": 0.1}}),
        "combiner.norm_params",
        "no norm",
    ),
    (
        "parameters of another norm",
        config(combiner={"norm": "layer", "norm_params": {"momentum": 0.1}}),
        "combiner.norm_params.momentum",
        "it has eps, elementwise_affine",
    ),
    (
        "a layer with parameters of another norm",
        config(combiner={"fc_layers": [{"norm": "batch", "norm_params": {"virtual_batch_size": 4}}]}),
        "combiner.fc_layers.0.norm_params.virtual_batch_size",
        "norm batch has no virtual_batch_size",
    ),
    (
        "heads that do not divide",
        config(combiner={"type": "transformer", "hidden_size": 10, "num_heads": 4}),
        "combiner.hidden_size",
        "no multiple of num_heads 4",
    ),
    (
        "main sequence that is no input",
        config(combiner={"type": "sequence_concat", "main_sequence_feature": "q"}),
        "combiner.main_sequence_feature",
        "no input feature",
    ),
    (
        "vectors alone for a combiner of sequences",
        config(combiner="sequence"),
        "combiner",
        "each encoder gives one vector",
    ),
    (
        "a tagger after a combiner of vectors",
        config(output_features=[{"name": "c", "type": "sequence", "decoder": "tagger"}]),
        "output_features.0.decoder",
        "the combiner returns one vector a row",
    ),
    (
        "a sequence for a combiner of vectors",
        config(input_features=[{"name": "a", "type": "text", "encoder": {"type": "rnn", "reduce_output": None}}]),
        "input_features.0.encoder.reduce_output",
        "combiner 'concat' takes one vector for each input",
    ),
    (
        "an entity of nobody",
        config(combiner={"type": "comparator", "entity_1": ["a"], "entity_2": ["q"]}),
        "combiner.entity_2.0",
        "'q' is no input feature",
    ),
    (
        "an input in both entities",
        config(combiner={"type": "comparator", "entity_1": ["a", "b"], "entity_2": ["b"]}),
        "combiner.entity_2.0",
        "both entities",
    ),
    (
        "an input in no entity",
        config([*NUMBERS, ("c", "text")], combiner={"type": "comparator", "entity_1": ["a"], "entity_2": ["b"]}),
        "combiner.entity_2",
        "missing: c",
    ),
    (
        "a default that does not fit a feature",
        config(
            [("a", "number", {"encoder": {"fc_layers": [{}]}})],
            defaults={"number": {"encoder": {"type": "dense", "num_layers": 2}}},
        ),
        "input_features.0.encoder.num_layers",
        "fc_layers lists 1",
    ),
]


@pytest.mark.parametrize(("value", "path", "message"), [row[1:] for row in TABLE], ids=[row[0] for row in TABLE])
def test_what_does_not_fit_together_is_reported_in_a_sentence(value: dict[str, Any], path: str, message: str) -> None:
    found = mistakes(value)
    assert path in found
    assert message in found[path]


def test_a_mistake_within_a_feature_hides_none_between_features() -> None:
    value = config([("a", "number", {"encoder": "dens"}), ("b", "numbr")], [("a", "binary", {"threshold": 3})])
    assert set(mistakes(value)) == {
        "input_features.0.encoder",
        "input_features.1.type",
        "output_features.0.threshold",
        "output_features.0.name",
    }


@pytest.mark.parametrize(
    "value",
    [
        config([("a", "number"), ("b", "number", {"column": "a"})]),
        config(outputs=[("y", "number"), ("z", "binary", {"column": "y"})]),
        config([("a", "text"), ("b", "text", {"tied": "a"})]),
        config(outputs=[("x", "number", {"dependencies": ["y"]}), ("y", "number")]),
        config(trainer={"validation_field": "y", "validation_metric": "roc_auc"}),
        config(trainer={"validation_field": "combined", "validation_metric": "loss"}),
        config(outputs=[("x", "number"), ("y", "binary")], trainer={"validation_metric": "roc_auc"}),
        config(trainer={"effective_batch_size": 120, "batch_size": 10, "gradient_accumulation_steps": 4}),
        config(trainer={"learning_rate_scheduler": None, "gradient_clipping": None, "early_stop": -1}),
        config(preprocessing={"oversample_minority": 0.5}),
        config(preprocessing={"split": {"type": "hash", "column": "a"}}),
        config(combiner={"num_fc_layers": 2, "fc_layers": [{}, {}]}),
        config(combiner={"type": "comparator", "entity_1": ["a"], "entity_2": ["b"]}),
        config(model_type="llm", base_model="x"),
    ],
    ids=str,
)
def test_what_fits_together_is_valid(value: dict[str, Any]) -> None:
    ModelConfig.model_validate(value)
