"""Tables for facts that the contract does not contain: the settings that an option needs, and values for text.

Patterns are paths in which `*` matches any text; `=word` after a path is one value of it. In `MATTERS`, a key with one
leading dot is a sibling of the option, with two dots a sibling of its section, and with a slash a field of the
enclosing encoder, decoder or combiner.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from trainwright_api.resource.dataset_options import FileFormat
from trainwright_trainer.encoders.text_models import FAMILIES

from .option_data import WIDTHS

_STILL = {"config.trainer.learning_rate": 1e-30, "config.trainer.epochs": 8}
_OF_THE_CLUSTER = "The operator acts on it, when it makes pods; what is trained stays the same."
_OF_A_STORE = "It opens a store of objects: test_run_in_store tries it on a real one."
_OF_BYTES = "It says which text some bytes are: test_dialect.py reads a text in each encoding."
_OF_OLD_ENTRIES = "It deletes what earlier runs have left in the cache: test_cache_use.py lets runs grow old."
_NOTHING_TO_SKIP = "The encoder returns its input unchanged, like a model that skips it."

_OF_MATRICES = (
    *("eye", "identity", "orthogonal", "sparse"),
    *("xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal"),
)

_STACKED = ("regressor", "classifier", "projector", "generator", "tagger")
_ATTENTIVE = ("transformer", "tabtransformer")
_SMALL_ATTENTION = {"/hidden_size": 8, "/transformer_output_size": 4, "/output_size": 8, "/num_heads": 2}
_TWO_CATEGORIES = [
    {"name": "size", "type": "number"},
    *({"name": name, "type": "category"} for name in ("kind", "kind2")),
]
_KEPT = {"type": "embed", "embedding_size": 3, "reduce_output": None}
_TWO_SEQUENCES = [
    {"name": "note", "type": "text", "encoder": _KEPT},
    {"name": "path", "type": "sequence", "encoder": _KEPT},
]
_SIMILAR = [[1.0 if row == column else 0.1 * row for column in range(8)] for row in range(8)]
_A_SEQUENCE = {"type": "transformer", "hidden_size": 8, "reduce_output": None}

_SMALL_SQUARE = {f"config.input_features[image].preprocessing.{side}": 12 for side in ("height", "width")}

NONE_TO_SEE: Mapping[str, str] = {
    "image": _OF_THE_CLUSTER,
    "rayVersion": _OF_THE_CLUSTER,
    "podTemplate": _OF_THE_CLUSTER,
    "childMetadata": _OF_THE_CLUSTER,
    "credentials": _OF_THE_CLUSTER,
    "backend.cache_credentials": _OF_A_STORE,
    "backend.credentials": _OF_A_STORE,
    "datasetOptions.encoding*": _OF_BYTES,
    "cache.maxBytes": _OF_OLD_ENTRIES,
    "report.*": "It changes the report alone: test_report_analyses.py looks at it.",
    "callbacks.mlflow*": "It tells a server about the run: test_mlflow.py reads it back from a real one.",
    "backend.loader.fully_executed": "One window of these few rows has the order of all rows: test_windows.py sees it.",
    "backend.type=*": "It starts workers, which have the curve of one process: test_fit.py and test_own_workers.py.",
    "queueName": _OF_THE_CLUSTER,
    "config.input_features[image].preprocessing.num_processes": "Threads change no image: test_images.py.",
    "gpuResourceName": _OF_THE_CLUSTER,
    "workersPerPod*": _OF_THE_CLUSTER,
    "suspend": _OF_THE_CLUSTER,
    "backoffLimit": _OF_THE_CLUSTER,
    "preemptionLimit": _OF_THE_CLUSTER,
    "resizeLimit": _OF_THE_CLUSTER,
    "startDeadlineSeconds": _OF_THE_CLUSTER,
    "activeDeadlineSeconds": _OF_THE_CLUSTER,
    "ttlSecondsAfterFinished": _OF_THE_CLUSTER,
    "ttlPolicy=*": _OF_THE_CLUSTER,
    "config.ludwig_version": "It says for which Ludwig the file was written; by contract it changes nothing.",
    "config.defaults": "It is nothing of its own: test_a_default_is_as_good_as_a_field tries each of its fields.",
    "config.output_features[*].preprocessing.padding=left": "The steps of a target are not padded.",
    "config.trainer.enable_gradient_checkpointing": "It changes no bit: test_activation_checkpointing.py counts.",
    "config.trainer.compile": "It makes the same numbers faster, and takes a compiler and a minute.",
    "config.trainer.precision=tf32": "On a CPU it is float32: test_products.py. tests/gpu looks at a GPU.",
    "config.trainer.max_batch_size=None": "Null and the default are both more rows than there are in the world.",
    "*.encoder[passthrough].skip": _NOTHING_TO_SKIP,
}
"""All options that are built and whose change has no visible effect, each with the reason."""

REFUSED_AS_WRONG: Mapping[str, str] = {
    "dataset=None": "name the data",
    "datasetOptions.delimiter": "has one column",
    "datasetOptions.decimal=.": "has a number with a comma in row",
    "datasetOptions.header": "is not in rows.csv",
    "task=evaluate": "needs a trained model",
    "task=predict": "needs a trained model",
    "task=hyperopt": "task hyperopt needs this section",
    "model": "exactly one of config, model and entrypoint",
    "entrypoint": "an entrypoint runs under Ray Train",
    "resumeFrom": "there is no model folder out/other",
    "backend.processor": "does not act with backend local",
    "*initializer=dirac": "'dirac' cannot fill values of shape",
    "*initializer[dirac].groups": "'dirac' cannot fill values of shape",
    **{f"*bias_initializer={word}": f"'{word}' cannot fill values of shape" for word in _OF_MATRICES},
    **{
        f"config.input_features[{word}.norm_params.{name}": "expected batch or layer"
        for word in (
            *("date].encoder[embed]", "date].encoder[wave]"),
            *("set].encoder[embed]", "bag].encoder[embed]"),
        )
        for name in ("epsilon", "virtual_batch_size")
    },
    **{
        f"config.combiner[project_aggregate].norm_params.{name}": "expected batch or layer"
        for name in ("epsilon", "virtual_batch_size")
    },
    "config.combiner[tabtransformer].reduce_output=None": "name a reduction",
    "config.combiner[comparator].entity_*=None": "needs the names of at least one input here",
    **{
        f"config.output_features[{kind}].reduce_input=None": "the combiner returns a sequence"
        for kind in ("number", "binary", "category", "set")
    },
    "*.reduce_dependencies=None": "has a hidden state for each step",
    "config.input_features[text].encoder[*].reduce_output=None": "takes one vector for each input",
    "*.encoding_size": "and the steps have the width 1",
    "config.output_features[*].decoder[*].vocab_size": ".vocab_size: is 99, the model and the data make it ",
    **{
        f"config.output_features[sequence].decoder[tagger].fc_norm_params.{name}": "expected batch or layer"
        for name in ("epsilon", "virtual_batch_size")
    },
    "*.decoder[passthrough].fc_layers=None": "decoder 'passthrough' gets",
    "config.input_features[set].encoder[embed].skip": "has no fixed width",
    "config.input_features[bag].encoder[embed].skip": "has no fixed width",
    "config.input_features[text].encoder[*].skip": "has no fixed width",
    "config.input_features[image].preprocessing.infer_image_dimensions": "the images differ in size",
    **{f"config.input_features[image].preprocessing.{name}=None": "given together" for name in ("height", "width")},
    "config.input_features[image].encoder[*].skip": "has no fixed width",
    **{
        f"config.input_features[image].encoder[{word}].{name}": "leave it out"
        for word in ("stacked_cnn", "mlp_mixer")
        for name in ("height", "width", "num_channels")
    },
    **{
        f"config.input_features[image].encoder[*conv_norm_params.{name}": "batch or layer"
        for name in ("epsilon", "virtual_batch_size")
    },
    **{f"config.input_features[text].encoder={word}": "there is no model" for word in FAMILIES},
    "config.input_features[text].encoder=llm": "needs the name of a model",
    "config.input_features[text].encoder=auto_transformer": "needs the name of a model",
    **{
        f"config.input_features[{kind}].preprocessing.cache_encoder_embeddings": "is always trained"
        for kind in ("sequence", "text", "image")
    },
    "config.input_features[text].preprocessing.pretrained_model_name_or_path": "acts with tokenizer hf_tokenizer alone",
    **{
        f"config.input_features[text].encoder[{word}norm_params.{name}": "batch or layer"
        for word in (
            *("parallel_cnn].", "parallel_cnn].conv_layers[0].", "stacked_cnn].", "stacked_parallel_cnn]."),
            "cnnrnn].",
        )
        for name in ("epsilon", "virtual_batch_size")
    },
    **{f"*.split[{w}].column=None": f"split {w} needs a column" for w in ("hash", "stratify", "datetime")},
    "*.input_size": ".input_size: is 9, the ",
    "*.vector_size": "vector_size",
    "config.output_features[*.num_classes": ".num_classes: is 7, the model and the data make it ",
    "*.decoder[projector].output_size": ".output_size: is 7, the model and the data make it 2",
}
"""Values that a job refuses, and a part of the message. The refusal is the effect of the option."""

VALUES: Mapping[str, list[Any]] = {
    "dataset": ["other.parquet"],
    "datasetOptions.delimiter": [";"],
    "datasetOptions.decimal": [","],
    "datasetOptions.header": [False],
    "datasetOptions.naValues": [["red"]],
    "output": ["elsewhere"],
    "model": ["out/job/model"],
    "entrypoint": [{"module": "mine", "function": "train"}],
    "resumeFrom": ["out/other"],
    "seed": [43],
    "backend.cache_dir": ["elsewhere"],
    "backend.cache_credentials": ["keys.json"],
    "backend.credentials": [{"cache": "keys.json"}],
    "backend.processor": [{"parallelism": 2}],
    "backend.loader.window_size_bytes": [2000],
    "backend.trainer": [{"num_workers": 2}],
    "checkpoint.scoreAttribute": ["validation.late.accuracy", "training.loss", "test.loss"],
    "checkpoint.everySeconds": [1],
    "config.hyperopt": [{"parameters": {"trainer.epochs": {"space": "randint", "lower": 1, "upper": 3}}}],
    "config.base_model": ["a-model"],
    **{f"config.{name}": [{"any": 1}] for name in ("prompt", "generation", "adapter", "quantization")},
    "config.model_parameters": [{"any": 1}],
    "config.combiner=comparator": [{"type": "comparator", "entity_1": ["size"], "entity_2": ["kind"]}],
    "config.combiner[sequence*].main_sequence_feature": ["path"],
    "config.combiner[tabnet].num_total_blocks": [3],
    "config.combiner[*transformer].hidden_size": [4],
    "config.preprocessing.split=fixed": [{"type": "fixed"}],
    **{f"config.preprocessing.split={w}": [{"type": w, "column": "kind"}] for w in ("hash", "stratify")},
    "config.preprocessing.split=datetime": [{"type": "datetime", "column": "made"}],
    "config.preprocessing.split*.probabilities": [[0.4, 0.3, 0.3]],
    "config.preprocessing.split[fixed].column": ["split2"],
    **{f"config.preprocessing.split[{w}].column": ["kind2"] for w in ("hash", "stratify")},
    "config.preprocessing.split[datetime].column": ["made2"],
    "config.preprocessing.split[datetime].datetime_format": ["%m/%d/%Y"],
    "config.preprocessing.sample_size": [100],
    "config.preprocessing.oversample_minority": [1.5],
    "config.preprocessing.undersample_majority": [1.0],
    "*_features[*].name": ["{name}2"],
    "*_features[*].column": ["{column}2"],
    "*_features[*].proc_column": ["encoded"],
    "config.input_features[*].tied": ["{name}2"],
    "*.dependencies": [["other"]],
    "*[number].default_validation_metric": ["mean_absolute_error", "mean_absolute_percentage_error"],
    "*[binary].default_validation_metric": ["loss", "accuracy"],
    "*[category].default_validation_metric": ["loss", "accuracy_micro", "hits_at_k"],
    "*[set].default_validation_metric": ["loss"],
    "*[sequence].default_validation_metric": ["token_accuracy", "sequence_accuracy", "last_accuracy", "edit_distance"],
    "*[text].default_validation_metric": ["token_accuracy", "sequence_accuracy", "last_accuracy", "edit_distance"],
    "*[vector].default_validation_metric": ["mean_absolute_error", "r2", "root_mean_squared_error"],
    "*.top_k": [1],
    "*.clip": [[0.1, 0.2]],
    "*.input_size": [9],
    "*.vector_size": [7],
    "*.num_classes": [7],
    "*.decoder[projector].output_size": [7],
    "*.class_weights": [{"low": 3.0, "Low": 1.0, "mid": 0.5}],
    "config.output_features[vector].loss*.class_weights": [[3.0, 0.5]],
    "config.output_features[*].decoder[*].vocab_size": [99],
    **{
        f"config.input_features[{kind}].encoder=passthrough": [{"type": "passthrough", "reduce_output": "sum"}]
        for kind in ("sequence", "text")
    },
    "*.encoding_size": [7],
    "config.output_features[set].loss*.class_weights": [{"p": 3.0, "q": 1.0, "P": 0.5, "p,p": 1.0}],
    "*.class_similarities": [[[1, 0.5, 0], [0, 1, 0], [0, 0.5, 1]]],
    "config.output_features[vector].loss*.class_similarities": [[[1, 0.5], [0, 1]]],
    **{
        f"config.output_features[{kind}].loss*.{name}": [value]
        for kind in ("sequence", "text")
        for name, value in {
            "class_weights": {"a": 3.0, "b": 1.0, "c": 0.5, "C": 1.0, "d_d": 1.0, "e": 2.0},
            "class_similarities": _SIMILAR,
        }.items()
    },
    "*preprocessing.computed_fill_value": ["2011-03-04"],
    "*preprocessing.fill_value": ["2011-03-04"],
    "*_features[number].preprocessing.*fill_value": [5.0],
    "*_features[binary].preprocessing.*fill_value": [True],
    "*_features[category].preprocessing.computed_fill_value": ["red"],
    "config.input_features[category].preprocessing.fill_value": ["red"],
    "config.output_features[category].preprocessing.fill_value": ["mid"],
    "config.input_features[vector].preprocessing.*fill_value": ["1 2 3"],
    "config.output_features[vector].preprocessing.*fill_value": ["1 2"],
    **{f"config.*_features[{kind}].preprocessing.*fill_value": ["x"] for kind in ("set", "bag")},
    **{f"config.*_features[{kind}].preprocessing.tokenizer": ["characters"] for kind in ("set", "bag")},
    **{
        f"config.*_features[{kind}].preprocessing.{name}": [value]
        for kind in ("sequence", "text")
        for name, value in {
            "*fill_value": "a",
            "tokenizer": "characters",
            "vocab_file": "words.txt",
            "padding_symbol": "a",
            "unknown_symbol": "a",
        }.items()
    },
    "*[text].preprocessing.pretrained_model_name_or_path": ["bert"],
    **{f"*.prompt.{name}": ["a"] for name in ("template", "task", "retrieval.index_name", "retrieval.model_name")},
    "*.conv_layers": [[{"filter_size": 2, "num_filters": 3}]],
    "config.input_features[text].encoder[transformer].hidden_size": [4],
    "config.input_features[image].preprocessing.*fill_value": [9.0],
    "config.input_features[image].preprocessing.height": [11],
    "config.input_features[image].preprocessing.width": [11],
    "config.input_features[image].preprocessing.infer_image_max_*": [11],
    "config.input_features[image].encoder[*].num_channels": [7],
    "config.input_features[image].encoder=mlp_mixer": [{"type": "mlp_mixer", "patch_size": 4, "num_layers": 1}],
    "config.input_features[image].encoder[mlp_mixer].patch_size": [3],
    "config.input_features[image].encoder[*.groups": [3],
    "config.input_features[image].encoder[stacked_cnn].conv_layers": [[{"out_channels": 3}]],
    "*.stacked_layers": [[[{"filter_size": 2, "num_filters": 3}]]],
    "*bias_initializer=constant": [{"type": "constant", "val": 0.5}],
    "*preprocessing.fallback_true_label": ["right"],
    "*preprocessing.datetime_format": ["%m/%d/%Y"],
    "*.vocab": [["red", "blue"]],
    "*.pretrained_embeddings": ["glove.txt"],
    "*.embedding_size": [2],
    "*.fc_layers": [[{"output_size": 3}], [{"output_size": 3}, {"output_size": 1}]],
    **{
        f"config.output_features[{kind}].decoder=passthrough": [
            {"type": "passthrough", "fc_layers": [{}, {"output_size": width}]}
        ]
        for kind, width in WIDTHS.items()
    },
    **{
        f"config.output_features[{kind}].decoder[passthrough].fc_layers": [[{}, {}, {"output_size": width}]]
        for kind, width in WIDTHS.items()
    },
    "config.trainer.optimizer=adamw": [{"type": "adamw", "weight_decay": 0.1}],
    "config.trainer.optimizer[*].betas": [[0.5, 0.5]],
    "config.trainer.batch_size": [20],
    "config.trainer.effective_batch_size": [80],
    "config.trainer.max_batch_size": [4],
    "config.trainer.eval_batch_size": [10],
    "config.trainer.validation_field": ["other", "combined"],
    "config.trainer.validation_metric": ["loss", "accuracy", "precision", "specificity"],
    "config.trainer.bucketing_field": ["note"],
    "config.trainer.layers_to_freeze_regex": ["^combiner"],
    "config.trainer.increase_batch_size_eval_metric": ["accuracy"],
    "config.trainer.learning_rate_scheduler.reduce_eval_metric": ["accuracy", "roc_auc", "recall"],
    "config.trainer.learning_rate_scheduler.decay_steps": [3],
    "config.trainer.learning_rate_scheduler.eta_min": [0.01],
}
"""Values for text, lists and objects, and for some numbers the value with the clearest effect."""

MATTERS: Mapping[str, Mapping[str, Any]] = {
    "datasetOptions.*": {"dataset": "rows.csv"},
    "datasetOptions.decimal*": {"dataset": "commas.csv"},
    "datasetOptions.decimal=.": {"dataset": "semicolons.csv"},
    **{f"datasetOptions.format={word}": {"dataset": f"{word}.data"} for word in get_args(FileFormat)},
    **{
        f"config.input_features[{word}.pretrained_embeddings": {".embedding_size": 3}
        for word in ("category].encoder[dense]", "set]*", "bag]*", "text]*")
    },
    "entrypoint": {"config": None, "dataset": None, "seed": None, "checkpoint": None},
    "checkpoint.*": {"config.trainer.epochs": 6},
    "config.preprocessing.split[hash].*": {".column": "size"},
    "config.preprocessing.split[stratify].*": {".column": "kind"},
    "config.preprocessing.split[datetime].*": {".column": "made"},
    "config.preprocessing.split[datetime].datetime_format": {".column": "day", ".datetime_format": "%d/%m/%Y"},
    "config.output_features[*].preprocessing.fill_value": {".missing_value_strategy": "fill_with_const"},
    "config.output_features[binary].preprocessing.fill_value": {".missing_value_strategy": "fill_with_false"},
    "*preprocessing.outlier_threshold": {".outlier_strategy": "fill_with_mean"},
    "*preprocessing.most_common": {".most_common": 3},
    "*preprocessing.max_sequence_length=None": {".max_sequence_length": 2},
    "config.input_features[*].preprocessing.padding=left": {"..encoder": {"type": "embed", "reduce_output": "concat"}},
    "config.output_features[category].preprocessing.most_common": {".most_common": 1},
    "*preprocessing.fallback_true_label": {"..column": "side"},
    "*preprocessing.datetime_format": {"..column": "day", ".datetime_format": "%d/%m/%Y"},
    "*features[number].tied": {".encoder": "dense"},
    "*features[binary].tied": {".encoder": "dense"},
    "*.default_validation_metric": {"config.trainer.epochs": 30, "config.trainer.learning_rate": 0.2},
    "config.output_features[vector].loss*softmax_cross_entropy*": {"config.output_features[vector].column": "shares"},
    "*.loss*.class_similarities": {".class_similarities_temperature": 0.5},
    "config.output_features[category].loss*.class_similarities_temperature": {
        ".class_similarities": [[1, 0.5, 0], [0, 1, 0], [0, 0.5, 1]],
        ".class_similarities_temperature": 2.0,
    },
    **{
        f"config.output_features[{kind}].loss*.class_similarities_temperature": {
            ".class_similarities": _SIMILAR,
            ".class_similarities_temperature": 2.0,
        }
        for kind in ("sequence", "text")
    },
    "config.output_features[vector].loss*.class_similarities_temperature": {
        ".class_similarities": [[1, 0.5], [0, 1]],
        ".class_similarities_temperature": 2.0,
    },
    "config.combiner[concat].*": {"/num_fc_layers": 1},
    "config.combiner[concat].num_fc_layers": {},
    "config.combiner[concat].flatten_inputs": {"config.input_features": _TWO_SEQUENCES},
    **{f"config.combiner{word}*": {"config.input_features": _TWO_SEQUENCES} for word in ("=sequence", "[sequence")},
    "config.combiner[sequence_concat].reduce_output=sum": {
        "config.output_features": [{"name": "late", "type": "binary", "reduce_input": "max"}]
    },
    "config.combiner[sequence].reduce_output*": {".encoder": {"type": "rnn", "state_size": 4, "reduce_output": "max"}},
    "config.combiner[sequence].reduce_output=max": {".encoder": {"type": "rnn", "state_size": 4}},
    "config.combiner[concat].residual": {".num_fc_layers": 2},
    **{f"config.combiner[{word}].*": {"/num_fc_layers": 1, **_SMALL_ATTENTION} for word in _ATTENTIVE},
    **{f"config.combiner[{word}].num_fc_layers": {"/num_fc_layers": 0} for word in _ATTENTIVE},
    **{f"config.combiner[{word}].fc_residual": {".num_fc_layers": 2} for word in _ATTENTIVE},
    "config.combiner[transformer].reduce_output=None": {".num_fc_layers": 0},
    "config.combiner[transformer].reduce_output=avg": {".reduce_output": "sum"},
    "config.combiner[tabtransformer]*": {"config.input_features": _TWO_CATEGORIES},
    "config.combiner[comparator].*": {"/entity_1": ["size"], "/entity_2": ["kind"]},
    "config.output_features[*].reduce_input*": {"config.combiner": _A_SEQUENCE},
    **{
        f"config.output_features[{kind}].reduce_input=None": {".decoder": {"type": "generator", "reduce_input": "max"}}
        for kind in ("sequence", "text")
    },
    "config.output_features[*].reduce_dependencies*": {
        "config.combiner": _A_SEQUENCE,
        ".dependencies": ["tags"],
        ".reduce_input": "sum",
    },
    "config.output_features[*].decoder[generator].reduce_input*": {
        "config.combiner": _A_SEQUENCE,
        "..reduce_input": None,
    },
    "config.output_features[*].decoder=tagger": {"config.combiner": _A_SEQUENCE},
    "config.output_features[*].decoder[tagger]*": {"config.combiner": _A_SEQUENCE},
    "config.output_features[*].decoder[tagger].attention_*": {"/use_attention": True},
    "config.output_features[*].decoder[tagger].attention_embedding_size": {"/attention_num_heads": 1},
    "config.input_features[text].encoder[passthrough].*": {"/reduce_output": "sum"},
    "config.combiner[tabnet].entmax_alpha": {".entmax_mode": "constant"},
    "config.combiner[tabnet].bn_virtual_bs=None": {".bn_virtual_bs": 8},
    "config.input_features[date].encoder[embed].*": {"/num_fc_layers": 1},
    "config.input_features[set].encoder[embed].*": {"/num_fc_layers": 1},
    "config.input_features[bag].encoder[embed].*": {"/num_fc_layers": 1},
    **{
        f"config.input_features[text].encoder[{word}].*": {"/num_filters": 4, "/num_fc_layers": 1, "/output_size": 4}
        for word in ("parallel_cnn", "stacked_cnn", "stacked_parallel_cnn")
    },
    **{
        f"config.input_features[text].encoder[{word}].*": {"/state_size": 4, "/num_fc_layers": 1, "/output_size": 4}
        for word in ("rnn", "cnnrnn")
    },
    "config.input_features[text].encoder[transformer].*": {
        "/hidden_size": 8,
        "/num_heads": 2,
        "/num_fc_layers": 1,
        "/output_size": 4,
    },
    **{
        f"config.input_features[text].encoder[{word}].{name}": {f"/{name}": None}
        for word, name in (
            ("parallel_cnn", "num_fc_layers"),
            ("stacked_cnn", "num_fc_layers"),
            ("stacked_parallel_cnn", "num_fc_layers"),
        )
    },
    "config.input_features[text].encoder[*].fc_layers[0]*": {"/num_fc_layers": 1},
    "config.input_features[text].encoder[*.pool_*": {".pool_size": 3},
    **{
        f"config.input_features[text].encoder[{word}].{name}*": {"/num_conv_layers": 1}
        for word in ("parallel_cnn", "stacked_cnn", "cnnrnn")
        for name in ("filter_size", "pool_size")
    },
    "config.input_features[text].encoder[stacked_parallel_cnn].filter_size": {"/stacked_layers": [[{}]]},
    "config.input_features[text].encoder[*.conv_layers[0].pool_function=max": {".pool_function": "mean"},
    "config.input_features[text].encoder[*.pool_padding=same": {".pool_padding": "valid"},
    "config.input_features[text].encoder[*.conv_layers[0].padding=same": {".padding": "valid"},
    "config.input_features[text].encoder[embed].weights_initializer[*": {"/embedding_size": 3},
    "config.input_features[image].preprocessing.fill_value": {".missing_value_strategy": "fill_with_const"},
    **{
        f"config.input_features[image].preprocessing.{name}": {".height": 12, ".width": 12}
        for name in ("height", "width")
    },
    "config.input_features[image].encoder[stacked_cnn].*": {"/num_conv_layers": 1, "/output_size": 4},
    "config.input_features[image].encoder[stacked_cnn].num_conv_layers": {"/num_conv_layers": None},
    "config.input_features[image].encoder[*padding_mode*": {".padding": "same"},
    "config.input_features[image].encoder[stacked_cnn].padding=None": {".padding": "same"},
    "config.input_features[image].encoder[stacked_cnn].pool_padding=None": {".pool_padding": 1},
    "config.input_features[image].encoder[stacked_cnn].pool_dilation=None": {".pool_dilation": 2},
    "config.input_features[image].encoder=mlp_mixer": _SMALL_SQUARE,
    "config.input_features[image].encoder[mlp_mixer].*": {
        "/patch_size": 4,
        "/embed_size": 8,
        "/token_size": 8,
        "/channel_dim": 8,
        "/num_layers": 1,
        **_SMALL_SQUARE,
    },
    "config.input_features[image].encoder[*.groups": {".out_channels": 6},
    "config.input_features[image].encoder[*.conv_layers[0].conv_activation=relu": {".conv_activation": "tanh"},
    "config.input_features[image].encoder[*.conv_layers[0].padding_mode=zeros": {".padding_mode": "reflect"},
    "config.input_features[image].encoder[*.conv_layers[0].padding=valid": {".padding": "same"},
    "config.input_features[image].encoder[*.conv_layers[0].pool_function=max": {".pool_function": "mean"},
    "*.unit_forget_bias": {"/cell_type": "lstm"},
    "config.input_features[text].encoder[*].dropout": {"/representation": "dense"},
    **{f"*.decoder[{word}].fc_*": {"/num_fc_layers": 1} for word in _STACKED},
    **{
        f"*.{fc}norm_params.{name}": {f"..{fc}norm": norm}
        for fc in ("", "fc_", "conv_")
        for name, norm in (
            ("*", "batch"),
            ("elementwise_affine", "layer"),
            ("epsilon", "ghost"),
            ("virtual_*", "ghost"),
        )
    },
    "*initializer[kaiming_uniform].nonlinearity": {".a": 0.5},
    "config.trainer.max_batch_size": {".batch_size": "auto"},
    "config.trainer.effective_batch_size": {".batch_size": 20},
    "config.trainer.eval_batch_size": {".eval_steps": 1},
    "config.trainer.eval_steps": {".eval_batch_size": 10},
    "config.trainer.optimizer=adamw": {".optimizer": {"type": "adam", "weight_decay": 0.1}},
    "config.trainer.early_stop": {**_STILL, ".early_stop": 4},
    "config.trainer.learning_rate_scaling*": {
        "backend": {"type": "ray", "trainer": {"num_workers": 4}},
        "--backend": "local",
        ".batch_size": 10,
    },
    "config.trainer.validation_*": {".epochs": 8},
    "config.trainer.layers_to_freeze_regex": {"config.combiner[concat].num_fc_layers": 1},
    "config.trainer.regularization_type*": {".regularization_lambda": 0.1},
    "config.trainer.learning_rate_scheduler=None": {".learning_rate_scheduler": {"decay": "linear"}},
    "config.trainer.learning_rate_scheduler.decay_*": {".decay": "exponential"},
    "config.trainer.learning_rate_scheduler.staircase": {".decay": "exponential", ".decay_steps": 3},
    "config.trainer.learning_rate_scheduler.t_0": {".decay": "cosine"},
    "config.trainer.learning_rate_scheduler.t_mult": {".decay": "cosine", ".t_0": 2},
    "config.trainer.learning_rate_scheduler.eta_min": {".decay": "cosine", ".t_0": 3},
    "config.trainer.learning_rate_scheduler.reduce_*": {
        **_STILL,
        ".reduce_on_plateau": 6,
        ".reduce_on_plateau_patience": 0,
    },
    "config.trainer.learning_rate_scheduler.reduce_on_plateau": {".reduce_on_plateau_patience": 1},
    "config.trainer.learning_rate_scheduler.reduce_eval_*": {"config.trainer.learning_rate": 1.0},
    "config.trainer.gradient_clipping=None": {"config.trainer.gradient_clipping": {"clipglobalnorm": 0.1}},
    "*.amsgrad": {".betas": [0.9, 0.1]},
    "config.trainer.optimizer[sgd].*": {".momentum": 0.9},
    "config.trainer.optimizer[rmsprop].eps": {},
}
"""The other settings that a job needs for an option to act. All matching entries apply; later ones override."""

RUNNERS: Mapping[str, str] = {
    **dict.fromkeys(("task=*", "output", "backend.cache_dir*"), "whole"),
    **dict.fromkeys(("checkpoint.numToKeep", "checkpoint.score*"), "checkpoints"),
}
"""Options about files, and the function of `option_runs` that records them. The default is `in_memory`."""
