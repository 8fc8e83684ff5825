"""What the contract allows and this version lacks: refused before anything is read, one line a gap.

Words (types of features, encoders, …) stand here as they stand in the registries, which cannot be asked: they import
torch. A test holds the two equal. Fields are listed by their path in the file; one that is given its default asks for
nothing and is let through.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from typing import Any

from trainwright_api.backend import Backend
from trainwright_api.config import ModelConfig
from trainwright_api.job import TrainingJobSpec
from trainwright_api.problems import Mistakes, Problem
from trainwright_api.section import Section

BACKENDS = ("local", "ray")
STRATEGIES = ("single", "ddp")
PROCESSORS = ("pandas",)
SPLITS = ("random", "fixed", "hash")
INPUTS = ("number", "binary", "category", "date", "vector")
OUTPUTS = ("number", "binary", "category", "vector")
_DENSE = ("passthrough", "dense")
ENCODERS = {
    "number": _DENSE,
    "binary": _DENSE,
    "category": ("passthrough", "dense", "sparse", "onehot"),
    "date": ("embed", "wave"),
    "vector": _DENSE,
}
COMBINERS = ("concat",)
DECODERS = ("regressor", "classifier", "projector", "passthrough")
LOSSES = (
    "mean_squared_error",
    "mean_absolute_error",
    "mean_absolute_percentage_error",
    "root_mean_squared_error",
    "root_mean_squared_percentage_error",
    "huber",
    "binary_weighted_cross_entropy",
    "softmax_cross_entropy",
)
OPTIMIZERS = ("sgd", "adam", "adamw", "adadelta", "adagrad", "adamax", "nadam", "rmsprop")
NORMS = ("batch", "layer")

# Fields of built sections that nothing reads yet, below `config`; `*` stands for one part of a path or more.
UNBUILT_FIELDS = (
    "base_model",
    "prompt",
    "generation",
    "adapter",
    "quantization",
    "model_parameters",
    "preprocessing.oversample_minority",
    "preprocessing.undersample_majority",
    "preprocessing.global_max_sequence_length",
    "trainer.increase_batch_size_*",
    "trainer.bucketing_field",
    "trainer.enable_gradient_checkpointing",
    "trainer.enable_profiling",
    "trainer.profiler*",
)
# The same, below a feature or below the defaults of a type of feature.
UNBUILT_FIELDS_OF_FEATURES = (
    "active",
    "proc_column",
    "preprocessing.computed_*",
    "preprocessing.cache_encoder_embeddings",
    "encoder.vocab",
    "encoder.pretrained_embeddings",
    "encoder.embeddings_on_cpu",
    "reduce_input",
    "reduce_dependencies",
    "calibration",
)
# Words that a field of several kinds may hold, and that nothing acts on yet.
UNBUILT_WORDS = {"trainer.learning_rate": "auto", "trainer.eval_batch_size": "auto"}


def refuse_unbuilt(spec: TrainingJobSpec) -> None:
    """Raises `Mistakes` with one "not built yet" line for each thing that this version lacks."""
    gaps = [*_backend(spec.backend), *_other(spec), *(_config(spec.config) if spec.config else ())]
    if gaps:
        raise Mistakes(Problem("", f"not built yet: {gap}") for gap in gaps)


def _backend(backend: Backend) -> Iterator[str]:
    if backend.type not in BACKENDS:
        yield f"backend.type {backend.type} (this version has {_listed(BACKENDS)}); on this machine: --backend local"
        return
    yield from _distributed(backend)
    if not backend.loader.fully_executed:
        yield "backend.loader.fully_executed false (this version materialises the data set)"
    if backend.loader.window_size_bytes is not None:
        yield "backend.loader.window_size_bytes (this version shuffles all rows at once)"


def _distributed(backend: Backend) -> Iterator[str]:
    if backend.strategy not in STRATEGIES:
        yield f"backend.trainer.strategy {backend.strategy} (this version has ddp)"
    if backend.trainer.logdir is not None:
        yield "backend.trainer.logdir (this version keeps logs in the run folder)"
    processor = backend.processor
    if "type" in processor.model_fields_set and processor.type not in PROCESSORS:
        yield f"backend.processor.type {processor.type} (this version has {_listed(PROCESSORS)})"
    elif processor.type not in PROCESSORS:
        yield from (f"backend.processor.{path} (this version has no dask)" for path, _ in _changed(processor, ""))


def notices(spec: TrainingJobSpec) -> list[str]:
    """What a file leaves open, and this version does in another way than the reference says."""
    backend = spec.backend
    if backend.type == "ray" and "type" not in backend.processor.model_fields_set:
        return ["backend.processor.type is not given: preprocessing is done by pandas, for dask is not built yet"]
    return []


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
        scheme, found, _ = (place or "").partition("://")
        if found and scheme not in ("file", "s3"):
            yield f"{path} {scheme}:// (this version has files, folders and s3://)"


def _config(config: ModelConfig) -> Iterator[str]:
    if config.model_type != "ecd":
        yield f"config.model_type {config.model_type} (this version has ecd)"
    if config.hyperopt is not None:
        yield "config.hyperopt"
    yield from _word("config.preprocessing.split.type", config.preprocessing.split, SPLITS)
    yield from _word("config.combiner.type", config.combiner, COMBINERS)
    yield from _word("config.trainer.optimizer.type", config.trainer.optimizer, OPTIMIZERS)
    yield from _features(config)
    yield from _defaults(config.defaults)
    for path, value in _changed(config, ""):
        yield from _field(path, value)


def _features(config: ModelConfig) -> Iterator[str]:
    for position, source in enumerate(config.input_features):
        yield from _word(f"config.input_features[{position}].type", source, INPUTS)
        yield from _parts(f"config.input_features[{position}]", source, source.type)
    for position, target in enumerate(config.output_features):
        yield from _word(f"config.output_features[{position}].type", target, OUTPUTS)
        yield from _parts(f"config.output_features[{position}]", target, target.type)


def _defaults(defaults: Section | None) -> Iterator[str]:
    for kind in _given(defaults) if defaults is not None else ():
        section: Section | None = getattr(defaults, kind)
        if section is None:
            continue
        if kind in INPUTS:
            yield from _parts(f"config.defaults.{kind}", section, kind)
        else:
            yield f"config.defaults.{kind} (this version has {_listed(INPUTS)})"


def _parts(path: str, section: Section, kind: str) -> Iterator[str]:
    """The words in a feature, or in the defaults of its type; a type that is not built is one gap, not four."""
    tables = {"encoder": ENCODERS.get(kind, ()), "decoder": DECODERS, "loss": LOSSES}
    for part, built in tables.items():
        if kind in INPUTS and part in section.model_fields_set:
            yield from _word(f"{path}.{part}.type", getattr(section, part), built)


def _word(path: str, section: Section, built: Iterable[str]) -> Iterator[str]:
    word = str(section.model_dump(include={"type"})["type"])
    if word not in built:
        yield f"{path} {word} (this version has {_listed(built)})"


def _field(path: str, value: Any) -> Iterator[str]:
    features = (f"{above}.{name}" for above in _ABOVE_FEATURES for name in UNBUILT_FIELDS_OF_FEATURES)
    if any(fnmatchcase(path, pattern) for pattern in (*UNBUILT_FIELDS, *features)):
        yield f"config.{path}"
    elif value is not None and UNBUILT_WORDS.get(path) == value:
        yield f"config.{path} {value} (this version has numbers)"
    elif path.endswith("norm") and value == "ghost":
        yield f"config.{path} ghost (this version has {_listed(NORMS)}, null)"


_ABOVE_FEATURES = ("input_features[[]*]", "output_features[[]*]", *(f"defaults.{kind}" for kind in INPUTS))


def _changed(value: Any, path: str, default: Any = None) -> Iterator[tuple[str, Any]]:
    """The leaves that a file gives and that are not their default: (path, value)."""
    if isinstance(value, Section):
        for name in _given(value):
            field = type(value).model_fields[name]
            known = None if field.is_required() else field.get_default(call_default_factory=True)
            yield from _changed(getattr(value, name), f"{path}.{name}" if path else name, known)
    elif isinstance(value, list | tuple) and any(isinstance(item, Section) for item in value):
        for position, item in enumerate(value):
            yield from _changed(item, f"{path}[{position}]")
    elif value != default:
        yield path, value


def _given(section: Section) -> list[str]:
    """The fields that a file gives, in the order of the reference."""
    return [name for name in type(section).model_fields if name in section.model_fields_set]


def _listed(words: Iterable[str]) -> str:
    return ", ".join(words)
