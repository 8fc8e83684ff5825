"""The table of support: the parts of the contract that this version implements.

`unbuilt` checks jobs against it, the reference marks missing parts, and a test of the trainer compares it with the
trainer's registries. Classes and fields are strings, so that the table imports nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from trainwright_api.schema.choice import Choice
from trainwright_api.schema.section import Section

BACKENDS = ("local", "ray", "deepspeed", "horovod")
"""The backends whose pods the operator can start."""
SPLITS = ("random", "fixed", "hash", "stratify", "datetime")
INPUTS = ("number", "binary", "category", "date", "vector", "set", "bag", "sequence", "text", "image")
OUTPUTS = ("number", "binary", "category", "vector", "set", "sequence", "text")
_DENSE = ("passthrough", "dense")
_SEQUENCE = (
    *("passthrough", "embed", "parallel_cnn", "stacked_cnn", "stacked_parallel_cnn", "rnn", "cnnrnn", "transformer"),
)
_PRETRAINED = (
    *("auto_transformer", "albert", "bert", "camembert", "ctrl", "deberta", "distilbert", "electra", "gpt", "gpt2"),
    *("longformer", "mt5", "roberta", "t5", "xlm", "xlmroberta", "xlnet"),
)
_TORCHVISION = (
    *("alexnet", "convnext", "densenet", "efficientnet", "googlenet", "inceptionv3", "maxvit", "mnasnet"),
    *("mobilenetv2", "mobilenetv3", "regnet", "resnet", "resnext", "shufflenet_v2", "squeezenet", "swin_transformer"),
    *("vgg", "vit", "wide_resnet"),
)
_TIMM = ("timm", "caformer", "convformer", "poolformer", "convnextv2")
ENCODERS: Mapping[str, tuple[str, ...]] = {
    "number": _DENSE,
    "binary": _DENSE,
    "category": ("passthrough", "dense", "sparse", "onehot"),
    "date": ("embed", "wave"),
    "vector": _DENSE,
    "set": ("embed",),
    "bag": ("embed",),
    "sequence": _SEQUENCE,
    "text": (*_SEQUENCE, *_PRETRAINED),
    "image": ("stacked_cnn", "mlp_mixer", *_TORCHVISION, *_TIMM),
}
COMBINERS = (
    "concat",
    "tabnet",
    "transformer",
    "tabtransformer",
    "comparator",
    "project_aggregate",
    "sequence",
    "sequence_concat",
)
DECODERS = ("regressor", "classifier", "projector", "passthrough", "tagger", "generator")
LOSSES = (
    "mean_squared_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "root_mean_squared_error",
    "root_mean_squared_percentage_error",
    "huber",
    "binary_weighted_cross_entropy",
    "softmax_cross_entropy",
    "sigmoid_cross_entropy",
    "sequence_softmax_cross_entropy",
)
TOKENIZERS = ("space", "space_punct", "characters", "underscore", "comma", "untokenized", "stripped")
OPTIMIZERS = ("sgd", "adam", "adamw", "adadelta", "adagrad", "adamax", "nadam", "rmsprop")

SEARCHES = ("random", "variant_generator", "optuna", "hyperopt", "ax", "bayesopt", "bohb", "nevergrad")
SCHEDULERS = (
    *("fifo", "async_hyperband", "asynchyperband", "asha", "hyperband", "hb_bohb"),
    *("median_stopping_rule", "medianstoppingrule", "pbt"),
)

CHOICES: Mapping[str, tuple[str, ...]] = {
    "input feature type": INPUTS,
    "output feature type": OUTPUTS,
    "combiner": COMBINERS,
    "decoder": DECODERS,
    "loss": LOSSES,
    "optimizer": OPTIMIZERS,
    "split": SPLITS,
    "search algorithm": SEARCHES,
    "scheduler": SCHEDULERS,
    "encoder of the sequence combiner": tuple(word for word in _SEQUENCE if word != "embed"),
    **{f"encoder of a {kind} feature": words for kind, words in ENCODERS.items()},
    "encoder": (),
    "adapter": ("lora",),
}
"""The built words by the noun of a choice, or by the part of the noun before " of ". Other choices are fully built."""

REASONS = {
    **{f"search algorithm.{word}": "Ray Tune has removed it" for word in ("blendsearch", "cfo", "dragonfly", "skopt")},
    "search algorithm.hebo": "each HEBO that works needs numpy below 1.25",
    "search algorithm.zoopt": "ZOOpt waits for ever if trials run one at a time, or if one fails",
    "scheduler.pbt_replay": "each trial of a pbt search has a job.yaml that repeats it: train that",
    "scheduler.pb2": "its Gaussian process is lost when a search is killed: use pbt",
    "scheduler.resource_changing": "a trial keeps the resources that it began with",
    "encoder of a text feature.transformer_xl": "the library transformers has removed it",
    "encoder of a text feature.flaubert": "the library transformers fails with its pre_norm",
    "encoder of a image feature._resnet_legacy": "Ludwig's former ResNet; resnet takes its place",
    "encoder of a image feature._vit_legacy": "Ludwig's former ViT; vit takes its place",
}
"""The reasons for which words of a choice are not built, by the noun of the choice and the word."""

WORDS: Mapping[str, tuple[str, ...]] = {
    "Backend.type": BACKENDS,
    "OffloadOptimizer.device": ("none", "cpu"),
    "OffloadParam.device": ("none", "cpu"),
    "ModelConfig.model_type": ("ecd",),
    "SetPreprocessing.tokenizer": TOKENIZERS,
    "TextPreprocessing.tokenizer": (*TOKENIZERS, "hf_tokenizer"),
    "SequencePreprocessing.tokenizer": TOKENIZERS,
    "TrainerConfig.learning_rate": (),
    "TrainerConfig.eval_batch_size": (),
}
"""Fields with some words built, by class and name. If they also accept numbers, those are built."""

INSTEAD: Mapping[str, str] = {
    "BackendTrainer.logdir": "this version keeps logs in the run folder",
}
FIELDS: Mapping[str, tuple[str, ...]] = {
    "Defaults": ("audio", "h3", "timeseries"),
    "ModelConfig": (
        "base_model",
        "prompt",
        "generation",
        "adapter",
        "quantization",
        "model_parameters",
    ),
    "PreprocessingConfig": ("global_max_sequence_length",),
    "RayExecutor": ("kubernetes_namespace", "trial_driver_resources"),
    "Scheduler": ("metric", "mode"),
    "PopulationBasedScheduler": ("custom_explore_fn", "log_config", "require_attrs"),
    "OptunaSearch": ("space", "evaluated_rewards"),
    "HyperoptSearch": ("space",),
    "AxSearch": ("space", "parameter_constraints", "outcome_constraints"),
    "BayesOptSearch": ("space", "verbose", "patience", "skip_duplicate"),
    "BOHBSearch": ("space",),
    "NevergradSearch": ("optimizer_kwargs", "space"),
    "TrainerConfig": (
        "enable_profiling",
        "profiler",
        "increase_batch_size_on_plateau",
        "increase_batch_size_on_plateau_patience",
        "increase_batch_size_on_plateau_rate",
        "increase_batch_size_eval_metric",
        "increase_batch_size_eval_split",
    ),
    "OffloadOptimizer": ("nvme_path", "buffer_count", "pipeline_read", "pipeline_write", "fast_init"),
    "OffloadParam": ("nvme_path", "buffer_count", "buffer_size", "max_in_cpu"),
    "Feature": (
        "active",
        "proc_column",
    ),
    "TextOutput": ("class_similarities",),
    "GeneratorDecoder": ("max_sequence_length",),
    "TaggerDecoder": ("max_sequence_length",),
    "SequenceSoftmaxCrossEntropy": ("unique",),
    "BinaryPreprocessing": ("computed_fill_value",),
    "CategoryPreprocessing": (
        "computed_fill_value",
        "cache_encoder_embeddings",
    ),
    "DatePreprocessing": ("computed_fill_value",),
    "NumberPreprocessing": (
        "computed_fill_value",
        "computed_outlier_fill_value",
    ),
    "VectorPreprocessing": ("computed_fill_value",),
    "SetPreprocessing": ("computed_fill_value",),
    "SequencePreprocessing": (
        "computed_fill_value",
        "vocab_file",
        "ngram_size",
    ),
    "SequenceOutputPreprocessing": ("cache_encoder_embeddings",),
    "TextOutputPreprocessing": ("cache_encoder_embeddings", "compute_idf", "pretrained_model_name_or_path"),
    "ImagePreprocessing": ("computed_fill_value", "in_memory", "num_classes", "infer_image_num_classes"),
    "ImageOutputPreprocessing": ("cache_encoder_embeddings",),
    "TextPreprocessing": (
        "compute_idf",
        "prompt",
    ),
    "CategoryDenseEncoder": (
        "vocab",
        "embeddings_on_cpu",
    ),
    "CategorySparseEncoder": (
        "vocab",
        "embeddings_on_cpu",
        "pretrained_embeddings",
    ),
    "CategoryOneHotEncoder": ("vocab",),
    "SequenceEncoder": ("max_sequence_length",),
    "EmbeddingEncoder": (
        "vocab",
        "embeddings_on_cpu",
    ),
    "LayeredEncoder": ("should_embed",),
    "PretrainedEncoder": (
        "saved_weights_in_checkpoint",
        "vocab",
        "pretrained_kwargs",
        "gradient_checkpointing",
        "position_embedding_type",
        "classifier_dropout",
        "classifier_dropout_prob",
        "bos_token_id",
        "eos_token_id",
        "n_ctx",
        "sinusoidal_pos_embds",
        "qa_dropout",
        "seq_classif_dropout",
        "add_pooling_layer",
    ),
    "Adapter": ("pretrained_adapter_weights",),
    "AdapterPostprocessor": ("progressbar",),
    "LoraFields": ("use_dora",),
    "CTRLEncoder": ("attn_pdrop",),
    "DebertaV2Encoder": ("max_relative_positions", "pooler_hidden_size", "pooler_dropout", "pooler_hidden_act"),
    "LongformerEncoder": ("sep_token_id",),
    "MT5Encoder": (
        *("num_decoder_layers", "initializer_factor", "is_encoder_decoder", "use_cache", "tokenizer_class"),
        *("tie_word_embeddings", "pad_token_id", "decoder_start_token_id"),
    ),
    "T5Encoder": ("num_decoder_layers", "layer_norm_eps", "initializer_factor"),
    "XLMEncoder": (
        *("sinusoidal_embeddings", "asm", "n_langs", "use_lang_emb", "embed_init_std", "bos_index", "eos_index"),
        *("pad_index", "unk_index", "mask_index", "is_encoder", "start_n_top", "end_n_top", "mask_token_id", "lang_id"),
        "pad_token_id",
    ),
    "XLNetEncoder": (
        *("untie_r", "mem_len", "reuse_len", "use_mems_eval", "use_mems_train", "bi_data", "clamp_len", "same_length"),
        *("summary_type", "summary_use_proj", "summary_activation", "summary_last_dropout", "start_n_top", "end_n_top"),
        "pad_token_id",
    ),
    "AutoTransformerEncoder": (
        "vocab",
        "vocab_size",
        "pretrained_kwargs",
    ),
    "RecurrentEncoder": (
        "activation",
        "recurrent_activation",
    ),
    "TorchvisionEncoder": ("saved_weights_in_checkpoint",),
    "AnyTimmEncoder": ("saved_weights_in_checkpoint",),
    "TokensEncoder": (
        "vocab",
        "embeddings_on_cpu",
    ),
    "DateEmbedEncoder": ("embeddings_on_cpu",),
}
"""Fields of built sections that are not implemented yet, by class, in addition to those of `INSTEAD`."""


def built_words(choice: Choice) -> tuple[str, ...]:
    """Return the built words of a choice, in the order of the reference."""
    return built_among(choice.noun, choice.words)


def built_among(noun: str, words: Iterable[str]) -> tuple[str, ...]:
    """Return the built ones among the words of a choice."""
    built = CHOICES.get(noun, CHOICES.get(noun.partition(" of ")[0]))
    return tuple(word for word in words if built is None or word in built)


def words_of(section: type[Section], name: str) -> tuple[str, ...] | None:
    """Return the built words of a field. None: all words of the contract."""
    return next((WORDS[key] for key in _keys(section, name) if key in WORDS), None)


def built_keys(section: type[Section]) -> list[str]:
    """Return the implemented keys of a section, as they are written in a file."""
    return [field.alias or name for name, field in section.model_fields.items() if is_built(section, name)]


def is_built(section: type[Section], name: str) -> bool:
    """Return True if a field of a built section is implemented."""
    named = any(name in FIELDS.get(base.__name__, ()) for base in section.__mro__)
    return not named and not any(key in INSTEAD for key in _keys(section, name))


def instead_of(section: type[Section], name: str) -> str:
    """Return the alternative of this version to an unbuilt field, or "" if there is none."""
    return next((INSTEAD[key] for key in _keys(section, name) if key in INSTEAD), "")


def _keys(section: type[Section], name: str) -> Iterator[str]:
    """Yield the field's possible names in the tables, one for each class in its MRO."""
    return (f"{base.__name__}.{name}" for base in section.__mro__)
