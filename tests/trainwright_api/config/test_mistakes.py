"""Wrong values in a valid model config: each is refused with its path."""

from __future__ import annotations

import copy
from itertools import pairwise
from typing import Any

import pytest
from pydantic import ValidationError

from trainwright_api.config import ModelConfig

Path = tuple[str | int, ...]

VALID: dict[str, Any] = {
    "input_features": [
        {"name": "n", "type": "number", "encoder": {"type": "dense"}, "preprocessing": {"normalization": "zscore"}},
        {"name": "b", "type": "binary", "preprocessing": {"fallback_true_label": "yes"}},
        {"name": "c", "type": "category", "encoder": {"type": "dense"}, "preprocessing": {}},
        {"name": "d", "type": "date", "encoder": {"type": "wave"}, "preprocessing": {}},
        {"name": "v", "type": "vector", "preprocessing": {}},
        {"name": "t", "type": "text", "encoder": {"type": "bert"}, "preprocessing": {}},
        {"name": "i", "type": "image", "encoder": {"type": "stacked_cnn"}, "augmentation": [{"type": "random_rotate"}]},
    ],
    "output_features": [
        {"name": "y", "type": "category", "decoder": {}, "loss": {}, "dependencies": ["z"]},
        {"name": "z", "type": "binary", "decoder": {}, "loss": {}, "preprocessing": {}},
        {"name": "w", "type": "vector", "decoder": {}, "loss": {"type": "huber"}},
        {"name": "m", "type": "number", "clip": [0, 1]},
    ],
    "combiner": {"type": "concat"},
    "trainer": {"optimizer": {"type": "adam"}, "learning_rate_scheduler": {}, "gradient_clipping": {}},
    "preprocessing": {"split": {"type": "random"}},
    "defaults": {"number": {"preprocessing": {}}},
}

N, B, C, D, V, T, IMAGE = (("input_features", at) for at in range(7))
Y, Z, W, M = (("output_features", at) for at in range(4))
TRAINER: Path = ("trainer",)

WRONG: list[tuple[Path, Any]] = [
    (("input_features",), []),
    (("input_features",), {}),
    (("output_features",), None),
    (("model_type",), "gbm"),
    (("input_features", 0), "n"),
    ((*N, "name"), ""),
    ((*N, "name"), 3),
    ((*N, "type"), "numeric"),
    ((*N, "type"), None),
    ((*N, "type"), 3),
    ((*N, "active"), "yes"),
    ((*N, "encoder"), "densse"),
    ((*N, "encoder"), None),
    ((*N, "encoder"), True),
    ((*N, "encoder", "type"), "onehot"),
    ((*N, "encoder", "dropout"), 1.1),
    ((*N, "encoder", "dropout"), -0.1),
    ((*N, "encoder", "dropout"), True),
    ((*N, "encoder", "dropout"), "0.1"),
    ((*N, "encoder", "num_layers"), 0),
    ((*N, "encoder", "output_size"), 0),
    ((*N, "encoder", "output_size"), 2.5),
    ((*N, "encoder", "activation"), "gelu"),
    ((*N, "encoder", "norm"), "group"),
    ((*N, "encoder", "use_bias"), 1),
    ((*N, "encoder", "weights_initializer"), "xavier"),
    ((*N, "encoder", "weights_initializer", "type"), "xavier"),
    ((*N, "encoder", "fc_layers", 0, "drop"), 0.1),
    ((*N, "preprocessing", "normalization"), "z"),
    ((*N, "preprocessing", "missing_value_strategy"), "fill_with_false"),
    ((*N, "preprocessing", "fill_value"), "0"),
    ((*N, "preprocessing", "fill_value"), float("nan")),
    ((*N, "preprocessing", "outlier_threshold"), -1),
    ((*B, "preprocessing", "missing_value_strategy"), "fill_with_mean"),
    ((*B, "preprocessing", "fallback_true_label"), 1),
    ((*B, "preprocessing", "fill_value"), "perhaps"),
    ((*B, "preprocessing", "fill_value"), 2),
    ((*C, "preprocessing", "most_common"), 0),
    ((*C, "preprocessing", "fill_value"), 3),
    ((*C, "encoder", "embedding_size"), 0),
    ((*C, "encoder", "vocab"), "a"),
    ((*D, "encoder", "num_fc_layers"), 0),
    ((*D, "encoder", "norm"), "ghost"),
    ((*D, "preprocessing", "missing_value_strategy"), "fill_with_mode"),
    ((*V, "preprocessing", "vector_size"), 0),
    ((*V, "preprocessing", "fill_value"), "1 b"),
    ((*T, "encoder", "hidden_dropout_prob"), 2),
    ((*T, "encoder", "reduce_output"), "first"),
    ((*T, "preprocessing", "tokenizer"), "spaces"),
    ((*T, "preprocessing", "padding"), "middle"),
    ((*IMAGE, "encoder", "kernel_size"), [3]),
    ((*IMAGE, "encoder", "kernel_size"), "3"),
    ((*IMAGE, "encoder", "padding"), "full"),
    ((*IMAGE, "augmentation"), "flip"),
    ((*IMAGE, "augmentation", 0, "degree"), -5),
    ((*IMAGE, "augmentation", 0, "type"), "rotate"),
    ((*Y, "loss"), "mean_squared_error"),
    ((*Y, "loss", "weight"), -1),
    ((*Y, "loss", "robust_lambda"), 1.5),
    ((*Y, "loss", "confidence_penalty"), -0.1),
    ((*Y, "loss", "class_weights"), 3),
    ((*Y, "loss", "class_weights"), [1, -1]),
    ((*Y, "loss", "class_weights", "a"), "heavy"),
    ((*Y, "loss", "class_similarities"), [[1, 0], [0, 1]]),
    ((*Y, "loss", "class_similarities"), [[1, 0], [1]]),
    ((*Y, "loss", "class_similarities"), 1),
    ((*Y, "top_k"), 0),
    ((*Y, "default_validation_metric"), "roc_auc"),
    ((*Y, "dependencies"), "z"),
    ((*Y, "decoder"), "regressor"),
    ((*Y, "decoder", "fc_dropout"), 2),
    ((*Y, "decoder", "fc_norm"), "both"),
    ((*Z, "threshold"), 1.5),
    ((*Z, "loss", "positive_class_weight"), -1),
    ((*Z, "calibration"), "true"),
    ((*W, "loss", "delta"), 0),
    ((*W, "decoder", "multiplier"), 0),
    ((*W, "decoder", "clip"), [1]),
    ((*W, "decoder", "clip"), [2, 1]),
    ((*M, "clip"), [1, 0]),
    ((*M, "clip"), 1),
    (("combiner",), "concatenate"),
    (("combiner", "type"), "stack"),
    (("combiner", "num_fc_layers"), -1),
    (("combiner", "flatten_inputs"), "no"),
    ((*TRAINER, "epochs"), 0),
    ((*TRAINER, "epochs"), "10"),
    ((*TRAINER, "batch_size"), 0),
    ((*TRAINER, "batch_size"), "large"),
    ((*TRAINER, "batch_size"), None),
    ((*TRAINER, "eval_batch_size"), -1),
    ((*TRAINER, "learning_rate"), 0),
    ((*TRAINER, "learning_rate"), "1e-3"),
    ((*TRAINER, "early_stop"), -2),
    ((*TRAINER, "train_steps"), 0),
    ((*TRAINER, "eval_steps"), 0),
    ((*TRAINER, "precision"), "float16"),
    ((*TRAINER, "optimizer"), "adamm"),
    ((*TRAINER, "optimizer", "betas"), [0.9]),
    ((*TRAINER, "optimizer", "betas"), [0.9, 1.0]),
    ((*TRAINER, "optimizer", "eps"), -1e-8),
    ((*TRAINER, "optimizer", "momentum"), 0.9),
    ((*TRAINER, "regularization_type"), "l3"),
    ((*TRAINER, "regularization_lambda"), 2),
    ((*TRAINER, "learning_rate_scaling"), "cubic"),
    ((*TRAINER, "layers_to_freeze_regex"), "("),
    ((*TRAINER, "learning_rate_scheduler", "decay"), "step"),
    ((*TRAINER, "learning_rate_scheduler", "decay_steps"), 0),
    ((*TRAINER, "learning_rate_scheduler", "warmup_fraction"), 1.5),
    ((*TRAINER, "learning_rate_scheduler", "reduce_eval_split"), "train"),
    ((*TRAINER, "gradient_clipping", "clipvalue"), 0),
    ((*TRAINER, "gradient_clipping", "clip"), 1),
    (("preprocessing", "sample_ratio"), 0),
    (("preprocessing", "sample_ratio"), 1.5),
    (("preprocessing", "sample_size"), 0),
    (("preprocessing", "split"), "randomly"),
    (("preprocessing", "split", "probabilities"), [0.7, 0.3]),
    (("preprocessing", "split", "probabilities"), [0.7, 0.1, 0.1]),
    (("preprocessing", "split", "probabilities"), [0, 0.5, 0.5]),
    (("preprocessing", "split", "probabilities"), [1.5, 0, -0.5]),
    (("preprocessing", "split", "colum"), "a"),
    (("defaults", "numbers"), {}),
    (("defaults", "number", "loss"), "corn"),
    (("defaults", "number", "preprocessing", "normalization"), "z"),
    (("hyperopt",), {"parameters": {}}),
    (("hyperopt",), {"parameters": {"trainer.learning_rate": {"space": "log"}}}),
    (("trainr",), {}),
]


def changed(path: Path, value: Any) -> dict[str, Any]:
    """The valid config with one value in another's place; what is missing on the way is made."""
    config = copy.deepcopy(VALID)
    at: Any = config
    for key, below in pairwise(path):
        if isinstance(at, dict):
            at.setdefault(key, [{}] if isinstance(below, int) else {})
        at = at[key]
    at[path[-1]] = value
    return config


def locations(config: Any) -> list[Path]:
    """Return the locations of the mistakes of a config."""
    with pytest.raises(ValidationError) as caught:
        ModelConfig.model_validate(config)
    return [line["loc"] for line in caught.value.errors()]


def test_the_file_is_valid_as_it_is() -> None:
    ModelConfig.model_validate(VALID)


@pytest.mark.parametrize(("path", "value"), WRONG, ids=lambda item: str(item)[:60])
def test_a_wrong_value_is_named_where_it_stands(path: Path, value: Any) -> None:
    found = locations(changed(path, value))
    assert any(place[: len(path)] == path for place in found), found


def test_all_wrong_values_are_named_at_once() -> None:
    config = changed((*N, "encoder", "dropout"), 2)
    config["trainer"]["epochs"] = 0
    config["output_features"][1]["loss"] = {"type": "hinge"}
    config["output_features"][0]["dependencies"] = ["q"]
    assert set(locations(config)) == {
        (*N, "encoder", "dropout"),
        ("trainer", "epochs"),
        (*Z, "loss", "type"),
        (*Y, "dependencies", 0),
    }


def test_a_word_in_place_of_a_section_is_named_without_type() -> None:
    assert locations(changed((*N, "encoder"), "densse")) == [(*N, "encoder")]
    assert locations(changed((*N, "encoder", "type"), "densse")) == [(*N, "encoder", "type")]


def test_the_message_names_the_valid_words() -> None:
    with pytest.raises(ValidationError, match="'numeric' is no input feature type: did you mean 'number'"):
        ModelConfig.model_validate(changed((*N, "type"), "numeric"))
    with pytest.raises(ValidationError, match="expected one of passthrough, dense"):
        ModelConfig.model_validate(changed((*N, "encoder"), "bert"))
