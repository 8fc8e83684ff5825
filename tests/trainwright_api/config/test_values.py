"""Values of more than one kind: what each becomes."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from trainwright_api.config import ModelConfig, resolve
from trainwright_api.config.augmentation import AUGMENTATIONS
from trainwright_api.config.combiners import ConcatCombiner
from trainwright_api.config.data import RandomSplit
from trainwright_api.config.encoders import DenseEncoder
from trainwright_api.config.encoders.image import Stacked2DCNNEncoder
from trainwright_api.config.initializers import NormalInitializer, initializer_parts
from trainwright_api.config.layers import NormParams
from trainwright_api.config.losses import SoftmaxCrossEntropy
from trainwright_api.config.metric_names import METRICS
from trainwright_api.config.optimizers import Adam
from trainwright_api.config.preprocessing import (
    BinaryPreprocessing,
    NumberPreprocessing,
    TextPreprocessing,
    VectorPreprocessing,
)
from trainwright_api.config.tokenizers import TOKENIZERS
from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.schema.section import Section

READ: list[tuple[type[Section], str, Any, Any]] = [
    (TrainerConfig, "batch_size", 128, 128),
    (TrainerConfig, "batch_size", "auto", "auto"),
    (TrainerConfig, "learning_rate", 1, 1.0),
    (TrainerConfig, "learning_rate", 1e-4, 1e-4),
    (TrainerConfig, "learning_rate", "auto", "auto"),
    (TrainerConfig, "eval_batch_size", 0, 0),
    (TrainerConfig, "eval_batch_size", None, None),
    (TrainerConfig, "early_stop", -1, -1),
    (TrainerConfig, "early_stop", 0, 0),
    (NumberPreprocessing, "normalization", "none", None),
    (NumberPreprocessing, "normalization", None, None),
    (NumberPreprocessing, "outlier_strategy", "none", None),
    (NumberPreprocessing, "fill_value", 3, 3.0),
    (BinaryPreprocessing, "fill_value", True, True),
    (BinaryPreprocessing, "fill_value", 1, 1.0),
    (BinaryPreprocessing, "fill_value", "Yes", "Yes"),
    (BinaryPreprocessing, "fill_value", None, None),
    (VectorPreprocessing, "fill_value", "1 -2.5 3e-4", "1 -2.5 3e-4"),
    (TextPreprocessing, "tokenizer", "german_lemmatize_filter", "german_lemmatize_filter"),
    (SoftmaxCrossEntropy, "class_weights", [1, 2.5], [1.0, 2.5]),
    (SoftmaxCrossEntropy, "class_weights", {"a": 1, 0: 2}, {"a": 1.0, "0": 2.0}),
    (Adam, "betas", [0, 0.5], (0.0, 0.5)),
    (RandomSplit, "probabilities", [1, 0, 0], (1.0, 0.0, 0.0)),
    (RandomSplit, "probabilities", [0.8, 0.1, 0.1], (0.8, 0.1, 0.1)),
    (Stacked2DCNNEncoder, "kernel_size", 3, 3),
    (Stacked2DCNNEncoder, "kernel_size", [3, 5], [3, 5]),
    (Stacked2DCNNEncoder, "padding", "same", "same"),
    (Stacked2DCNNEncoder, "padding", 0, 0),
    (ConcatCombiner, "weights_initializer", "normal", "normal"),
    (ConcatCombiner, "weights_initializer", {"type": "normal"}, NormalInitializer()),
    (ConcatCombiner, "activation", None, None),
]


@pytest.mark.parametrize(("section", "field", "value", "expected"), READ, ids=lambda item: str(item)[:40])
def test_a_value_is_read(section: type[Section], field: str, value: Any, expected: Any) -> None:
    read = getattr(section.model_validate({field: value}), field)
    assert read == expected
    assert type(read) is type(expected)


REFUSED: list[tuple[type[Section], str, Any, str]] = [
    (TrainerConfig, "batch_size", "large", "a whole number of at least 1, or the word auto, found the text 'large'"),
    (TrainerConfig, "learning_rate", "word", "expected a number above 0, found the text 'word'"),
    (TrainerConfig, "eval_batch_size", "word", "expected a whole number, found the text 'word'"),
    (TrainerConfig, "batch_size", True, "found true"),
    (TrainerConfig, "batch_size", None, "found nothing"),
    (SoftmaxCrossEntropy, "class_weights", "balanced", "labels with their weights, found the text 'balanced'"),
    (RandomSplit, "probabilities", [0.7, 0.3], "expected a list of three numbers, found a list of 2"),
    (RandomSplit, "probabilities", [0.7, 0.2, 0.2], "the three shares sum to 1.1, not to 1"),
    (Adam, "betas", 0.9, "expected a list of two numbers, found the number 0.9"),
    (VectorPreprocessing, "fill_value", "1, 2", "expected numbers with spaces between"),
    (TextPreprocessing, "tokenizer", "spaces", "did you mean 'space'"),
]


@pytest.mark.parametrize(("section", "field", "value", "message"), REFUSED, ids=lambda item: str(item)[:40])
def test_a_value_is_refused_in_one_sentence(section: type[Section], field: str, value: Any, message: str) -> None:
    with pytest.raises(ValidationError) as caught:
        section.model_validate({field: value})
    assert len(caught.value.errors()) == 1
    assert message in caught.value.errors()[0]["msg"]


def test_an_initializer_has_a_word_and_parameters() -> None:
    assert initializer_parts("zeros") == ("zeros", {})
    assert initializer_parts(NormalInitializer(std=2)) == ("normal", {"mean": 0.0, "std": 2.0})


def test_the_parameters_of_a_norm_are_those_given() -> None:
    assert NormParams(momentum=0.2, affine=False).arguments() == {"momentum": 0.2, "affine": False}


def test_augmentation_is_true_false_or_a_list() -> None:
    assert [step.model_dump() for step in AUGMENTATIONS.read(True)] == [
        {"type": "random_horizontal_flip"},
        {"type": "random_rotate", "degree": 15},
    ]
    assert AUGMENTATIONS.read(False) == []
    assert [
        step.model_dump() for step in AUGMENTATIONS.read(["random_blur", {"type": "random_contrast", "min": 1}])
    ] == [
        {"type": "random_blur", "kernel_size": 3},
        {"type": "random_contrast", "min": 1.0, "max": 2.0},
    ]


def test_a_blur_has_a_middle() -> None:
    with pytest.raises(ValidationError, match="expected an odd number"):
        AUGMENTATIONS.read([{"type": "random_blur", "kernel_size": 4}])


def test_every_type_has_a_loss_and_a_direction_for_each_metric() -> None:
    assert all(METRICS[kind]["loss"] == "min" for kind in METRICS)
    assert METRICS["binary"]["roc_auc"] == METRICS["number"]["r2"] == METRICS["set"]["jaccard"] == "max"
    assert set(METRICS["vector"]) == {
        "loss",
        "mean_squared_error",
        "mean_absolute_error",
        "root_mean_squared_error",
        "r2",
    }


def test_no_tokenizer_is_named_twice() -> None:
    assert len(TOKENIZERS) == len(set(TOKENIZERS))


def test_the_word_ludwig_stands_for_a_trainer_section_that_keeps_ludwigs_defaults() -> None:
    features = {
        "input_features": [{"name": "a", "type": "number"}],
        "output_features": [{"name": "y", "type": "binary"}],
    }
    config = ModelConfig.model_validate({**features, "trainer": "ludwig"})
    assert resolve(config).trainer == resolve(ModelConfig.model_validate({**features, "trainer": {}})).trainer
    with pytest.raises(ValidationError, match="'ludwg' is no trainer section: did you mean 'ludwig'"):
        ModelConfig.model_validate({**features, "trainer": "ludwg"})


def test_the_default_number_beside_a_list_of_layers_contradicts_nothing() -> None:
    """Ludwig writes every default into the file of a run, and the list has priority."""
    assert DenseEncoder.model_validate({"num_layers": 1, "fc_layers": [{}, {}]}).fc_layers is not None
    with pytest.raises(ValidationError, match="num_layers is 3, but fc_layers lists 2"):
        DenseEncoder.model_validate({"num_layers": 3, "fc_layers": [{}, {}]})
