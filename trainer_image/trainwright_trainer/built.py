"""What the contract allows and this version lacks: refused before anything is read, one line a gap.

Words (types of features, encoders, …) are those of the registries, so a new file there is built as soon as its line is.
Fields are listed here, by the path in the file; a field that is given its default asks for nothing and is let through.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Any

from trainwright_api.backend import Backend
from trainwright_api.config import ModelConfig
from trainwright_api.job import TrainingJobSpec
from trainwright_api.problems import Mistakes, Problem
from trainwright_api.section import Section

BACKENDS = ("local",)
SPLITS = ("random", "fixed", "hash")
INPUTS = ("number", "binary", "category", "date", "vector")
OUTPUTS = ("number", "binary", "category", "vector")
COMBINERS = ("concat",)
DECODERS = ("regressor", "classifier", "projector", "passthrough")
OPTIMIZERS = ("sgd", "adam", "adamw", "adadelta", "adagrad", "adamax", "nadam", "rmsprop")
NORMS = ("batch", "layer", "null")

# Fields of built sections that nothing reads yet; `*` stands for one part of a path or more.
UNBUILT_FIELDS = (
    "config.hyperopt",
    "config.base_model",
    "config.prompt",
    "config.generation",
    "config.adapter",
    "config.quantization",
    "config.model_parameters",
    "config.preprocessing.oversample_minority",
    "config.preprocessing.undersample_majority",
    "config.preprocessing.global_max_sequence_length",
    "config.trainer.increase_batch_size_*",
    "config.trainer.bucketing_field",
    "config.trainer.enable_gradient_checkpointing",
    "config.trainer.enable_profiling",
    "config.trainer.profiler*",
    "config.*_features[[]*].proc_column",
    "config.*_features[[]*].preprocessing.computed_*",
    "config.*_features[[]*].preprocessing.cache_encoder_embeddings",
    "config.input_features[[]*].encoder.vocab",
    "config.input_features[[]*].encoder.pretrained_embeddings",
    "config.input_features[[]*].encoder.embeddings_on_cpu",
    "config.input_features[[]*].encoder.input_size",
    "config.output_features[[]*].reduce_input",
    "config.output_features[[]*].reduce_dependencies",
    "config.output_features[[]*].input_size",
    "config.output_features[[]*].num_classes",
    "config.output_features[[]*].calibration",
    "config.output_features[[]*].vector_size",
    "config.output_features[[]*].loss.class_similarities*",
    "config.output_features[[]*].decoder.input_size",
    "config.output_features[[]*].decoder.num_classes",
    "config.output_features[[]*].decoder.output_size",
)


def refuse_unbuilt(spec: TrainingJobSpec) -> None:
    """Raises `Mistakes` with one "not built yet" line for each thing that this version lacks."""
    gaps = [*_backend(spec.backend), *_other(spec), *(_config(spec.config) if spec.config else ())]
    if gaps:
        raise Mistakes(Problem("", f"not built yet: {gap}") for gap in gaps)


def _backend(backend: Backend) -> Iterator[str]:
    if backend.type not in BACKENDS:
        yield f"backend.type {backend.type} (this version has {_listed(BACKENDS)}); on this machine: --backend local"
        return
    if not backend.loader.fully_executed:
        yield "backend.loader.fully_executed false (this version materialises the data set)"
    if backend.loader.window_size_bytes is not None:
        yield "backend.loader.window_size_bytes (this version shuffles all rows at once)"


def _other(spec: TrainingJobSpec) -> Iterator[str]:
    if spec.entrypoint is not None:
        yield "entrypoint (this version has config)"
    if spec.resume_from is not None:
        yield "resumeFrom (this version resumes its own run, with --resume)"
    places = {
        "dataset": spec.dataset,
        "output": spec.output,
        "model": spec.model,
        "backend.cache_dir": spec.backend.cache_dir,
    }
    for path, place in places.items():
        if place is not None and "://" in place:
            yield f"{path} {place} (this version has files and folders)"


def _config(config: ModelConfig) -> Iterator[str]:
    if config.model_type != "ecd":
        yield f"config.model_type {config.model_type} (this version has ecd)"
    yield from _word("config.preprocessing.split.type", config.preprocessing.split, SPLITS)
    yield from _word("config.combiner.type", config.combiner, COMBINERS)
    yield from _word("config.trainer.optimizer.type", config.trainer.optimizer, OPTIMIZERS)
    for position, feature in enumerate(config.input_features):
        yield from _word(f"config.input_features[{position}].type", feature, INPUTS)
    for position, feature in enumerate(config.output_features):
        yield from _word(f"config.output_features[{position}].type", feature, OUTPUTS)
        yield from _word(f"config.output_features[{position}].decoder.type", feature.decoder, DECODERS)
    for path, value in _changed(config, "config"):
        if any(fnmatchcase(path, pattern) for pattern in UNBUILT_FIELDS):
            yield path
        elif path.endswith(("norm", ".norm")) and value == "ghost":
            yield f"{path} ghost (this version has {_listed(NORMS)})"


def _word(path: str, section: Section, built: tuple[str, ...]) -> Iterator[str]:
    word = str(section.model_dump(include={"type"})["type"])
    if word not in built:
        yield f"{path} {word} (this version has {_listed(built)})"


def _changed(value: Any, path: str, default: Any = None) -> Iterator[tuple[str, Any]]:
    """The leaves that a file gives and that are not their default: (path, value)."""
    if isinstance(value, Section):
        for name in value.model_fields_set:
            field = type(value).model_fields[name]
            known = None if field.is_required() else field.get_default(call_default_factory=True)
            yield from _changed(getattr(value, name), f"{path}.{name}", known)
    elif isinstance(value, list | tuple) and any(isinstance(item, Section) for item in value):
        for position, item in enumerate(value):
            yield from _changed(item, f"{path}[{position}]")
    elif value != default:
        yield path, value


def _listed(words: Mapping[str, Any] | tuple[str, ...]) -> str:
    return ", ".join(words)
