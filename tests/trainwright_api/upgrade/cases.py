"""One case for each rule of the upgrade: a part of an old config, the same part today, and the notices."""

from __future__ import annotations

from typing import Any

Case = tuple[dict[str, Any], dict[str, Any], tuple[str, ...]]


def inputs(**fields: Any) -> dict[str, Any]:
    """A config with these fields of its one input."""
    return {"input_features": [{"name": "a", **fields}]}


def outputs(**fields: Any) -> dict[str, Any]:
    """A config with these fields of its one output."""
    return {"output_features": [{"name": "b", **fields}]}


def scheduled(name: str, value: Any, new: str, result: Any, *more: str) -> Case:
    """A field of the trainer that belongs to the scheduler."""
    line = f"config.trainer.{name} is read as config.trainer.learning_rate_scheduler.{new}"
    return {"trainer": {name: value}}, {"trainer": {"learning_rate_scheduler": {new: result}}}, (line, *more)


def decaying(name: str, value: Any) -> Case:
    """A field of the trainer that acts with the exponential decay."""
    old, new, lines = scheduled(name, value, name, value)
    _, _, of_decay = scheduled("decay", "exponential", "decay", "exponential")
    old["trainer"]["decay"] = new["trainer"]["learning_rate_scheduler"]["decay"] = "exponential"
    return old, new, (*of_decay, *lines)


TRAINER: dict[str, Case] = {
    "training": (
        {"training": {"epochs": 3}},
        {"trainer": {"epochs": 3}},
        ("config.training is read as config.trainer",),
    ),
    "a field of training": (
        {"training": {"learning_rate_warmup_epochs": 2}},
        {"trainer": {"learning_rate_scheduler": {"warmup_evaluations": 2}}},
        (
            "config.training is read as config.trainer",
            "config.training.learning_rate_warmup_epochs is read as "
            "config.trainer.learning_rate_scheduler.warmup_evaluations",
        ),
    ),
    "decay": scheduled("decay", True, "decay", "exponential", "config.trainer.decay: true is read as exponential"),
    "no decay": scheduled("decay", False, "decay", None, "config.trainer.decay: false is read as null"),
    "decay as a word": scheduled("decay", "linear", "decay", "linear"),
    "decay_steps": decaying("decay_steps", 5),
    "decay_rate": decaying("decay_rate", 0.5),
    "staircase": decaying("staircase", True),
    "warm-up": scheduled("learning_rate_warmup_epochs", 2, "warmup_evaluations", 2),
    "plateau": scheduled(
        "reduce_learning_rate_on_plateau",
        2.0,
        "reduce_on_plateau",
        2,
        "config.trainer.reduce_learning_rate_on_plateau: 2.0 is read as 2",
    ),
    "patience": scheduled("reduce_learning_rate_on_plateau_patience", 3, "reduce_on_plateau_patience", 3),
    "rate": scheduled("reduce_learning_rate_on_plateau_rate", 0.3, "reduce_on_plateau_rate", 0.3),
    "metric": scheduled("reduce_learning_rate_eval_metric", "loss", "reduce_eval_metric", "loss"),
    "split": scheduled("reduce_learning_rate_eval_split", "test", "reduce_eval_split", "test"),
    "max_batch_size": (
        {"trainer": {"increase_batch_size_on_plateau_max": 512}},
        {"trainer": {"max_batch_size": 512}},
        ("config.trainer.increase_batch_size_on_plateau_max is read as config.trainer.max_batch_size",),
    ),
    "validation_measure": (
        {"trainer": {"validation_measure": "loss"}},
        {"trainer": {"validation_metric": "loss"}},
        ("config.trainer.validation_measure is read as config.trainer.validation_metric",),
    ),
    "regularizer": (
        {"trainer": {"regularizer": "l1"}},
        {"trainer": {"regularization_type": "l1"}},
        ("config.trainer.regularizer is read as config.trainer.regularization_type",),
    ),
    "dropout_rate": (
        {"trainer": {"dropout_rate": 0.0}},
        {"trainer": {}},
        ("config.trainer.dropout_rate is dropped: 0 is the default of each layer",),
    ),
    "type": (
        {"trainer": {"type": "trainer", "epochs": 1}},
        {"trainer": {"epochs": 1}},
        ("config.trainer.type is dropped: model_type selects the trainer",),
    ),
    "shuffle_buffer_size": (
        {"trainer": {"shuffle_buffer_size": None}},
        {"trainer": {}},
        ("config.trainer.shuffle_buffer_size is dropped: all rows are shuffled",),
    ),
    "optimizer word": (
        {"trainer": {"optimizer": "gradient_descent"}},
        {"trainer": {"optimizer": "sgd"}},
        ("config.trainer.optimizer: gradient_descent is read as sgd",),
    ),
    "optimizer type": (
        {"trainer": {"optimizer": {"type": "gd"}}},
        {"trainer": {"optimizer": {"type": "sgd"}}},
        ("config.trainer.optimizer.type: gd is read as sgd",),
    ),
    "betas and epsilon": (
        {"trainer": {"optimizer": {"type": "adam", "beta_1": 0.8, "beta_2": 0.9, "epsilon": 1e-6}}},
        {"trainer": {"optimizer": {"type": "adam", "eps": 1e-6, "betas": [0.8, 0.9]}}},
        (
            "config.trainer.optimizer.epsilon is read as config.trainer.optimizer.eps",
            "config.trainer.optimizer.beta_1 is read as betas: [0.8, 0.9]",
            "config.trainer.optimizer.beta_2 is read as betas: [0.8, 0.9]",
        ),
    ),
    "one beta": (
        {"trainer": {"optimizer": {"type": "adam", "beta2": 0.9}}},
        {"trainer": {"optimizer": {"type": "adam", "betas": [0.9, 0.9]}}},
        ("config.trainer.optimizer.beta2 is read as betas: [0.9, 0.9]",),
    ),
    "rate of the optimizer": (
        {"trainer": {"optimizer": {"type": "adam", "lr": 0.1}}},
        {"trainer": {"optimizer": {"type": "adam"}, "learning_rate": 0.1}},
        ("config.trainer.optimizer.lr is read as config.trainer.learning_rate",),
    ),
    "decay of rmsprop": (
        {"trainer": {"optimizer": {"type": "rmsprop", "decay": 0.9}}},
        {"trainer": {"optimizer": {"type": "rmsprop", "alpha": 0.9}}},
        ("config.trainer.optimizer.decay is read as config.trainer.optimizer.alpha",),
    ),
}

PREPROCESSING: dict[str, Case] = {
    "of numbers": (
        {"preprocessing": {"numerical": {"normalization": "minmax"}}},
        {"defaults": {"number": {"preprocessing": {"normalization": "minmax"}}}},
        ("config.preprocessing.numerical is read as config.defaults.number.preprocessing",),
    ),
    "beside defaults": (
        {
            "preprocessing": {"number": {"fill_value": 1}},
            "defaults": {"number": {"preprocessing": {"normalization": "minmax"}}},
        },
        {"defaults": {"number": {"preprocessing": {"normalization": "minmax", "fill_value": 1}}}},
        ("config.preprocessing.number.fill_value is read as config.defaults.number.preprocessing.fill_value",),
    ),
    "nested once more": (
        {"preprocessing": {"sample_ratio": 0.5, "number": {"preprocessing": {"fill_value": 1}}}},
        {"preprocessing": {"sample_ratio": 0.5}, "defaults": {"number": {"preprocessing": {"fill_value": 1}}}},
        ("config.preprocessing.number.preprocessing is read as config.defaults.number.preprocessing",),
    ),
    "of other types": (
        {**inputs(type="number"), "preprocessing": {"text": {"char_most_common": 70}, "number": {"fill_value": 1}}},
        {**inputs(type="number"), "defaults": {"number": {"preprocessing": {"fill_value": 1}}}},
        (
            "config.preprocessing.number is read as config.defaults.number.preprocessing",
            "config.preprocessing.text is dropped: no feature is of this type",
        ),
    ),
    "split": (
        {"preprocessing": {"force_split": True, "split_probabilities": [0.8, 0.1, 0.1]}},
        {"preprocessing": {"split": {"probabilities": [0.8, 0.1, 0.1], "type": "random"}}},
        (
            "config.preprocessing.split_probabilities is read as config.preprocessing.split.probabilities",
            "config.preprocessing.force_split is read as {type: random} of config.preprocessing.split",
        ),
    ),
    "stratify": (
        {"preprocessing": {"stratify": "b", "force_split": None}},
        {"preprocessing": {"split": {"column": "b", "type": "stratify"}}},
        (
            "config.preprocessing.force_split is dropped: null is the default",
            "config.preprocessing.stratify is read as config.preprocessing.split.column",
        ),
    ),
}

FEATURES: dict[str, Case] = {
    "numerical": (
        inputs(type="numerical"),
        inputs(type="number"),
        ("config.input_features[0].type: numerical is read as number",),
    ),
    "tied_weights": (
        {"input_features": [{"name": "a", "type": "number"}, {"name": "c", "type": "number", "tied_weights": "a"}]},
        {"input_features": [{"name": "a", "type": "number"}, {"name": "c", "type": "number", "tied": "a"}]},
        ("config.input_features[1].tied_weights is read as tied",),
    ),
    "proc_column": (
        inputs(type="number", proc_column="a_mZFLky"),
        inputs(type="number"),
        ("config.input_features[0].proc_column is dropped: Ludwig generated it",),
    ),
    "proc_column of a name with spaces": (
        {"input_features": [{"name": "a (b) c", "type": "number", "proc_column": "a__b__c_g2SqCj"}]},
        {"input_features": [{"name": "a (b) c", "type": "number"}]},
        ("config.input_features[0].proc_column is dropped: Ludwig generated it",),
    ),
    "backfill": (
        inputs(type="number", preprocessing={"missing_value_strategy": "backfill"}),
        inputs(type="number", preprocessing={"missing_value_strategy": "bfill"}),
        ("config.input_features[0].preprocessing.missing_value_strategy: backfill is read as bfill",),
    ),
    "pad in defaults": (
        {"defaults": {"number": {"type": "number", "preprocessing": {"missing_value_strategy": "pad"}}}},
        {"defaults": {"number": {"preprocessing": {"missing_value_strategy": "ffill"}}}},
        (
            "config.defaults.number.type is dropped: the key is the type",
            "config.defaults.number.preprocessing.missing_value_strategy: pad is read as ffill",
        ),
    ),
    "constant of a binary": (
        inputs(type="binary", preprocessing={"missing_value_strategy": "fill_with_const", "fill_value": 1}),
        inputs(type="binary", preprocessing={"missing_value_strategy": "fill_with_false", "fill_value": 1}),
        (
            "config.input_features[0].preprocessing.missing_value_strategy: fill_with_const is read as fill_with_false "
            "(fill_value still acts)",
        ),
    ),
    "flat encoder": (
        inputs(type="number", encoder="dense", num_layers=2, fc_size=64, bias=False),
        inputs(type="number", encoder={"type": "dense", "num_layers": 2, "output_size": 64, "use_bias": False}),
        (
            "config.input_features[0].num_layers is read as encoder.num_layers",
            "config.input_features[0].fc_size is read as encoder.output_size",
            "config.input_features[0].bias is read as encoder.use_bias",
        ),
    ),
    "flat embedding": (
        inputs(type="category", embedding_size=8),
        inputs(type="category", encoder={"embedding_size": 8}),
        ("config.input_features[0].embedding_size is read as encoder.embedding_size",),
    ),
    "representation": (
        inputs(type="category", representation="sparse"),
        inputs(type="category", encoder="sparse"),
        ("config.input_features[0].representation is read as encoder",),
    ),
    "flat preprocessing": (
        inputs(type="number", missing_value_strategy="fill_with_mean"),
        inputs(type="number", preprocessing={"missing_value_strategy": "fill_with_mean"}),
        ("config.input_features[0].missing_value_strategy is read as preprocessing.missing_value_strategy",),
    ),
    "tokens of a category": (
        inputs(type="category", preprocessing={"tokenizer": "untokenized"}),
        inputs(type="category", preprocessing={}),
        ("config.input_features[0].preprocessing.tokenizer is dropped: a category is not split into tokens",),
    ),
    "loss of a binary": (
        outputs(type="binary", loss={"type": "softmax_cross_entropy"}),
        outputs(type="binary", loss={"type": "binary_weighted_cross_entropy"}),
        ("config.output_features[0].loss.type: softmax_cross_entropy is read as binary_weighted_cross_entropy",),
    ),
    "loss of a category": (
        outputs(type="category", loss="cross_entropy"),
        outputs(type="category", loss="softmax_cross_entropy"),
        ("config.output_features[0].loss: cross_entropy is read as softmax_cross_entropy",),
    ),
    "flat without effect": (
        inputs(type="number", num_layers=2),
        inputs(type="number"),
        ("config.input_features[0].num_layers is dropped: encoder passthrough does not have it",),
    ),
    "layers": (
        inputs(type="number", encoder={"type": "dense", "layers": [{"fc_size": 8, "weights_regularizer": None}]}),
        inputs(type="number", encoder={"type": "dense", "fc_layers": [{"output_size": 8}]}),
        (
            "config.input_features[0].encoder.layers[0].weights_regularizer is dropped: Ludwig has it no longer",
            "config.input_features[0].encoder.layers[0].fc_size is read as output_size",
            "config.input_features[0].encoder.layers is read as encoder.fc_layers",
        ),
    ),
    "initializers": (
        inputs(
            type="number",
            encoder={
                "type": "dense",
                "weights_initializer": "glorot_uniform",
                "bias_initializer": {"type": "he_normal"},
            },
        ),
        inputs(
            type="number",
            encoder={
                "type": "dense",
                "weights_initializer": "xavier_uniform",
                "bias_initializer": {"type": "kaiming_normal"},
            },
        ),
        (
            "config.input_features[0].encoder.weights_initializer: glorot_uniform is read as xavier_uniform",
            "config.input_features[0].encoder.bias_initializer.type: he_normal is read as kaiming_normal",
        ),
    ),
    "flat decoder": (
        outputs(type="binary", num_fc_layers=1, fc_size=32, use_bias=False, activation="tanh"),
        outputs(
            type="binary",
            decoder={
                "num_fc_layers": 1,
                "fc_output_size": 32,
                "fc_use_bias": False,
                "use_bias": False,
                "fc_activation": "tanh",
            },
        ),
        (
            "config.output_features[0].num_fc_layers is read as decoder.num_fc_layers",
            "config.output_features[0].fc_size is read as decoder.fc_output_size",
            "config.output_features[0].use_bias is read as decoder.fc_use_bias",
            "config.output_features[0].activation is read as decoder.fc_activation",
        ),
    ),
    "weight_regularization": (
        outputs(type="binary", weight_regularization=None),
        outputs(type="binary"),
        (
            "config.output_features[0].weight_regularization is dropped: regularization is set by "
            "config.trainer.regularization_lambda",
        ),
    ),
    "one class weight": (
        outputs(type="category", loss={"class_weights": 1}),
        outputs(type="category", loss={}),
        ("config.output_features[0].loss.class_weights: 1 is dropped: a weight for each class is needed",),
    ),
    "audio": (
        inputs(type="audio", preprocessing={"audio_feature": {"type": "raw"}}),
        inputs(type="audio", preprocessing={"type": "raw"}),
        ("config.input_features[0].preprocessing.audio_feature.type is read as preprocessing.type",),
    ),
    "words and characters": (
        inputs(type="text", level="word", preprocessing={"word_tokenizer": "space", "char_tokenizer": "characters"}),
        inputs(type="text", preprocessing={"tokenizer": "space"}),
        (
            "config.input_features[0].level: word is dropped: it is the default",
            "config.input_features[0].preprocessing.char_tokenizer is dropped: word_tokenizer is given",
            "config.input_features[0].preprocessing.word_tokenizer is read as preprocessing.tokenizer",
        ),
    ),
    "characters": (
        inputs(type="text", level="char", preprocessing={"sequence_length_limit": 9, "char_most_common": 70}),
        inputs(type="text", preprocessing={"max_sequence_length": 9, "most_common": 70, "tokenizer": "characters"}),
        (
            "config.input_features[0].level: char is read as {tokenizer: characters} of preprocessing",
            "config.input_features[0].preprocessing.sequence_length_limit is read as preprocessing.max_sequence_length",
            "config.input_features[0].preprocessing.char_most_common is read as preprocessing.most_common",
        ),
    ),
    "legacy ResNet": (
        inputs(type="image", encoder="resnet", resnet_size=50),
        inputs(type="image", encoder={"type": "_resnet_legacy", "resnet_size": 50}),
        (
            "config.input_features[0].encoder: resnet is read as _resnet_legacy",
            "config.input_features[0].resnet_size is read as encoder.resnet_size",
        ),
    ),
    "convolutions of images": (
        inputs(
            type="image",
            encoder="stacked_cnn",
            num_filters=16,
            conv_layers=[{"num_filters": 8, "filter_size": 3, "pool_size": 2}, {"pool_stride": 2, "dropout": 0.4}],
        ),
        inputs(
            type="image",
            encoder={
                "type": "stacked_cnn",
                "out_channels": 16,
                "conv_layers": [
                    {"out_channels": 8, "kernel_size": 3, "pool_kernel_size": 2},
                    {"pool_stride": 2, "conv_dropout": 0.4},
                ],
            },
        ),
        (
            "config.input_features[0].num_filters is read as encoder.out_channels",
            "config.input_features[0].conv_layers is read as encoder.conv_layers",
            "config.input_features[0].conv_layers[0].num_filters is read as out_channels",
            "config.input_features[0].conv_layers[0].filter_size is read as kernel_size",
            "config.input_features[0].conv_layers[0].pool_size is read as pool_kernel_size",
            "config.input_features[0].conv_layers[1].dropout is read as conv_dropout",
        ),
    ),
    "convolutions of sequences": (
        inputs(type="text", encoder="stacked_cnn", conv_layers=[{"num_filters": 8, "filter_size": 3}]),
        inputs(type="text", encoder={"type": "stacked_cnn", "conv_layers": [{"num_filters": 8, "filter_size": 3}]}),
        ("config.input_features[0].conv_layers is read as encoder.conv_layers",),
    ),
}

COMBINER: dict[str, Case] = {
    "fc_size": (
        {"combiner": {"type": "concat", "fc_size": 8}},
        {"combiner": {"type": "concat", "output_size": 8}},
        ("config.combiner.fc_size is read as config.combiner.output_size",),
    ),
    "transformer_fc_size": (
        {"combiner": {"type": "transformer", "transformer_fc_size": 8, "fc_layers": [{"fc_size": 4}]}},
        {"combiner": {"type": "transformer", "transformer_output_size": 8, "fc_layers": [{"output_size": 4}]}},
        (
            "config.combiner.fc_layers[0].fc_size is read as output_size",
            "config.combiner.transformer_fc_size is read as config.combiner.transformer_output_size",
        ),
    ),
    "layers of tabnet": (
        {"combiner": {"type": "tabnet", "fc_size": 8, "use_keras_batch_norm": False}},
        {"combiner": {"type": "tabnet"}},
        (
            "config.combiner.fc_size is dropped: tabnet has no fully connected layers",
            "config.combiner.use_keras_batch_norm is dropped: Ludwig has it no longer",
        ),
    ),
    "virtual batches": (
        {"combiner": {"type": "tabnet", "bn_virtual_divider": 4}, "trainer": {"batch_size": 256}},
        {"combiner": {"type": "tabnet", "bn_virtual_bs": 64}, "trainer": {"batch_size": 256}},
        ("config.combiner.bn_virtual_divider is read as bn_virtual_bs: 64",),
    ),
    "one virtual batch": (
        {"combiner": {"type": "tabnet", "bn_virtual_divider": 1}},
        {"combiner": {"type": "tabnet", "bn_virtual_bs": None}},
        ("config.combiner.bn_virtual_divider is read as bn_virtual_bs: null",),
    ),
    "virtual batches, given twice alike": (
        {"combiner": {"type": "tabnet", "bn_virtual_divider": 4, "bn_virtual_bs": 64}, "trainer": {"batch_size": 256}},
        {"combiner": {"type": "tabnet", "bn_virtual_bs": 64}, "trainer": {"batch_size": 256}},
        ("config.combiner.bn_virtual_divider is dropped: bn_virtual_bs is given",),
    ),
}

_SPACE = {"trainer.learning_rate": {"space": "uniform", "lower": 0.1, "upper": 0.2}}
HYPEROPT: dict[str, Case] = {
    "empty": ({"hyperopt": {}}, {}, ("config.hyperopt is dropped: it is empty",)),
    "parameters": (
        {"hyperopt": {"parameters": {"training.decay_rate": {"space": "choice", "categories": [0.8]}}}},
        {
            "hyperopt": {
                "parameters": {"trainer.learning_rate_scheduler.decay_rate": {"space": "choice", "categories": [0.8]}}
            }
        },
        (
            "config.hyperopt.parameters.training.decay_rate is read as "
            "config.hyperopt.parameters.trainer.learning_rate_scheduler.decay_rate",
        ),
    ),
    "executor": (
        {"hyperopt": {"parameters": _SPACE, "executor": {"type": "serial", "search_alg": "optuna"}}},
        {"hyperopt": {"parameters": _SPACE, "executor": {"type": "ray"}, "search_alg": "optuna"}},
        (
            "config.hyperopt.executor.type: serial is read as ray",
            "config.hyperopt.executor.search_alg is read as config.hyperopt.search_alg",
        ),
    ),
    "scheduler": (
        {"hyperopt": {"parameters": _SPACE, "scheduler": {"type": "async_hyperband", "reduction_factor": 2}}},
        {
            "hyperopt": {
                "parameters": _SPACE,
                "executor": {"scheduler": {"type": "async_hyperband", "reduction_factor": 2}},
            }
        },
        ("config.hyperopt.scheduler is read as config.hyperopt.executor.scheduler",),
    ),
    "sampler": (
        {
            "hyperopt": {
                "parameters": _SPACE,
                "sampler": {"type": "ray", "num_samples": 2, "search_alg": {"type": "skopt"}, "scheduler": {}},
            }
        },
        {"hyperopt": {"parameters": _SPACE, "search_alg": {"type": "skopt"}, "executor": {"num_samples": 2}}},
        (
            "config.hyperopt.sampler.search_alg is read as config.hyperopt.search_alg",
            "config.hyperopt.sampler.num_samples is read as config.hyperopt.executor.num_samples",
            "config.hyperopt.sampler.scheduler is read as config.hyperopt.executor.scheduler",
            "config.hyperopt.sampler.type is dropped: the executor is ray",
            "config.hyperopt.sampler is empty now, and dropped",
            "config.hyperopt.sampler.scheduler is dropped: it is empty",
        ),
    ),
}

CASES: dict[str, Case] = {
    f"{group}: {name}": case
    for group, cases in {
        "trainer": TRAINER,
        "preprocessing": PREPROCESSING,
        "features": FEATURES,
        "combiner": COMBINER,
        "hyperopt": HYPEROPT,
    }.items()
    for name, case in cases.items()
}

BACKENDS: dict[str, tuple[Any, dict[str, Any], tuple[str, ...]]] = {
    "a word": ("ray", {"type": "ray"}, ("backend is read as backend.type",)),
    "data_format": (
        {"type": "ray", "data_format": "parquet"},
        {"type": "ray"},
        ("backend.data_format is not needed: the cache is always Parquet",),
    ),
    "engine": (
        {"type": "ray", "engine": {"type": "dask"}},
        {"type": "ray", "processor": {"type": "dask"}},
        ("backend.engine is read as backend.processor",),
    ),
    "trainer.type": (
        {"type": "ray", "trainer": {"type": "horovod", "num_workers": 2}},
        {"type": "ray", "trainer": {"strategy": "horovod", "num_workers": 2}},
        ("backend.trainer.type is read as backend.trainer.strategy",),
    ),
    "DeepSpeed beside the type": (
        {"type": "deepspeed", "zero_optimization": {"stage": 2}},
        {
            "type": "deepspeed",
            "trainer": {"strategy": {"zero_optimization": {"stage": 2}, "type": "deepspeed"}},
        },
        ("backend.zero_optimization is read as backend.trainer.strategy.zero_optimization",),
    ),
    "DeepSpeed beside the strategy": (
        {"type": "ray", "trainer": {"strategy": "deepspeed", "zero_optimization": {"stage": 1}, "bf16": True}},
        {
            "type": "ray",
            "trainer": {"strategy": {"type": "deepspeed", "zero_optimization": {"stage": 1}, "bf16": True}},
        },
        (
            "backend.trainer.zero_optimization is read as backend.trainer.strategy.zero_optimization",
            "backend.trainer.bf16 is read as backend.trainer.strategy.bf16",
        ),
    ),
}
