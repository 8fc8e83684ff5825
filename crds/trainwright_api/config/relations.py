"""Checks that the sections of a model config fit together.

The checks read the values as the file has them and pass over what is malformed, so that a mistake within a feature does
not hide one between two features.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from pydantic_core import InitErrorDetails

from trainwright_api.config.combiner_relations import combiner_mistakes
from trainwright_api.config.metric_names import DEFAULT_METRIC, METRICS
from trainwright_api.config.outlines import SEQUENCES, Outline, mapping, outlines
from trainwright_api.schema.section import relation, unknown_word


def mistakes_between(values: Mapping[str, Any]) -> Iterator[InitErrorDetails]:
    """All mistakes between the sections of `values`, a model config as the file has it."""
    inputs, outputs = outlines(values, "input_features"), outlines(values, "output_features")
    yield from _name_mistakes(inputs, outputs)
    yield from _target_mistakes(inputs, outputs)
    yield from _tied_mistakes(inputs)
    yield from _dependency_mistakes(outputs)
    yield from _monitor_mistakes(mapping(values.get("trainer")), outputs)
    yield from _unevaluated_mistakes(mapping(values.get("trainer")), outputs)
    yield from _bucketing_mistakes(mapping(values.get("trainer")), inputs)
    yield from _precision_mistakes(mapping(values.get("trainer")), inputs)
    yield from _balance_mistakes(mapping(values.get("preprocessing")), outputs)
    yield from combiner_mistakes(values.get("combiner"), inputs, outputs, has_defaults=bool(values.get("defaults")))


def _name_mistakes(inputs: list[Outline], outputs: list[Outline]) -> Iterator[InitErrorDetails]:
    first: dict[str, Outline] = {}
    for feature in [*inputs, *outputs]:
        before = first.setdefault(feature.name, feature)
        if before is feature or (before.where[0] != feature.where[0] and before.column == feature.column):
            continue
        yield relation(
            f"the name {feature.name!r} is taken by {before.path}", *feature.where, "name", found=feature.name
        )


def _target_mistakes(inputs: list[Outline], outputs: list[Outline]) -> Iterator[InitErrorDetails]:
    taken = {feature.column: feature for feature in reversed(inputs)}
    for target in outputs:
        if target.column in taken:
            message = f"a target that is also an input: {taken[target.column].path} is column {target.column!r} too"
            yield relation(message, *target.where, "column" if target.names_column else "name", found=target.column)


def _tied_mistakes(inputs: list[Outline]) -> Iterator[InitErrorDetails]:
    types = {feature.name: feature.type for feature in inputs}
    for feature in inputs:
        if not isinstance(feature.tied, str):
            continue
        others = [name for name in types if name != feature.name]
        if feature.tied not in others:
            error = unknown_word("other input feature", feature.tied, others)
            yield {"type": error, "loc": (*feature.where, "tied"), "input": feature.tied}
        elif types[feature.tied] != feature.type:
            other = types[feature.tied]
            message = f"{feature.tied!r} is of type {other}, not {feature.type}: only equal types share an encoder"
            yield relation(message, *feature.where, "tied", found=feature.tied)
    if ring := _ring({feature.name: (feature.tied,) for feature in inputs if isinstance(feature.tied, str)}):
        first = next(feature for feature in inputs if feature.name == ring[0])
        message = "inputs are tied in a ring, so none has the encoder: " + " → ".join([*ring, ring[0]])
        yield relation(message, *first.where, "tied", found=first.tied)


def _dependency_mistakes(outputs: list[Outline]) -> Iterator[InitErrorDetails]:
    graph = {feature.name: feature.dependencies for feature in outputs}
    for feature in outputs:
        others = [name for name in graph if name != feature.name]
        for at, name in enumerate(feature.dependencies):
            if name not in others:
                error = unknown_word("other output feature", name, others)
                yield {"type": error, "loc": (*feature.where, "dependencies", at), "input": name}
    if ring := _ring(graph):
        first = next(feature for feature in outputs if feature.name == ring[0])
        message = "outputs depend on each other in a ring: " + " → ".join([*ring, ring[0]])
        yield relation(message, *first.where, "dependencies", found=list(first.dependencies))


def _ring(graph: Mapping[str, tuple[str, ...]]) -> list[str]:
    """The first ring of two or more names, or an empty list."""
    done: set[str] = set()

    def walk(name: str, path: list[str]) -> list[str]:
        if name in path:
            return path[path.index(name) :]
        if name in done or name not in graph:
            return []
        found = next((ring for other in graph[name] if other != name and (ring := walk(other, [*path, name]))), [])
        done.add(name)
        return found

    return next((ring for name in graph if (ring := walk(name, []))), [])


def _monitor_mistakes(trainer: Mapping[str, Any], outputs: list[Outline]) -> Iterator[InitErrorDetails]:
    """The metric that selects the best epoch, and the one that is monitored for a plateau, of the same output."""
    kinds = {"combined": "combined", **{feature.name: feature.type for feature in outputs}}
    field, metric = trainer.get("validation_field"), trainer.get("validation_metric")
    if isinstance(field, str) and field not in kinds:
        error = unknown_word("output feature, nor combined", field, [*(one.name for one in outputs), "combined"])
        yield {"type": error, "loc": ("trainer", "validation_field"), "input": field}
        return
    if not outputs:
        return
    names = [field] if isinstance(field, str) else [feature.name for feature in outputs]
    known = {name: METRICS.get(kinds[name] or "", {}) for name in names}
    owner = f"metric of {field}" if isinstance(field, str) else "metric of any output"
    every = {name: None for metrics in known.values() for name in metrics}
    yield from _metric_mistake(metric, every, owner, "validation_metric")
    own = next((name for name in names if isinstance(metric, str) and metric in known[name]), names[0])
    plateau = mapping(trainer.get("learning_rate_scheduler")).get("reduce_eval_metric")
    yield from _metric_mistake(plateau, known[own], f"metric of {own}", "learning_rate_scheduler", "reduce_eval_metric")


def _metric_mistake(metric: Any, known: Iterable[str], owner: str, *where: str) -> Iterator[InitErrorDetails]:
    """Nothing is known of an output of an unknown type."""
    expected = list(known)
    if isinstance(metric, str) and expected and metric not in expected:
        yield {"type": unknown_word(owner, metric, expected), "loc": ("trainer", *where), "input": metric}


def _unevaluated_mistakes(trainer: Mapping[str, Any], outputs: list[Outline]) -> Iterator[InitErrorDetails]:
    """Yield the options of evaluations where there are none.

    Ludwig writes the first output and its metric into a config that leaves them open.
    """
    if trainer.get("skip_all_evaluation") is not True:
        return
    first = outputs[0] if outputs else None
    without_effect: dict[tuple[str, ...], tuple[Any, ...]] = {
        ("learning_rate_scheduler", "reduce_on_plateau"): (0,),
        ("early_stop",): (-1, 0, 5),
        ("eval_steps",): (),
        ("eval_batch_size",): (0,),
        ("evaluate_training_set",): (False,),
        ("validation_field",): (first and first.name,),
        ("validation_metric",): (first and DEFAULT_METRIC.get(first.type or "", "loss"),),
    }
    for where, idle in without_effect.items():
        found: Any = trainer
        for key in where:
            found = mapping(found).get(key)
        if found is not None and found not in idle:
            yield relation("does not act: skip_all_evaluation is true", "trainer", *where, found=found)


def _bucketing_mistakes(trainer: Mapping[str, Any], inputs: list[Outline]) -> Iterator[InitErrorDetails]:
    field, where = trainer.get("bucketing_field"), ("trainer", "bucketing_field")
    if not isinstance(field, str) or not inputs:
        return
    types = {feature.name: feature.type for feature in inputs}
    if field not in types:
        yield {"type": unknown_word("input feature", field, list(types)), "loc": where, "input": field}
    elif types[field] not in SEQUENCES:
        message = f"{field!r} is of type {types[field]}: the rows of a {' and of a '.join(SEQUENCES)} differ in length"
        yield relation(message, *where, found=field)
    elif trainer.get("should_shuffle") is False:
        yield relation("groups of rows are shuffled, but should_shuffle is false", *where, found=field)


def _precision_mistakes(trainer: Mapping[str, Any], inputs: list[Outline]) -> Iterator[InitErrorDetails]:
    """Transformers' Longformer masks with the smallest float64 and computes softmax in float32, where it is -inf."""
    wide = trainer.get("precision") == "float64"
    for feature in inputs:
        if wide and feature.encoder == "longformer":
            message = f"the encoder longformer ({feature.path}) has no finite gradients in float64: use float32"
            yield relation(message, "trainer", "precision", found="float64")


def _balance_mistakes(preprocessing: Mapping[str, Any], outputs: list[Outline]) -> Iterator[InitErrorDetails]:
    for key in ("oversample_minority", "undersample_majority"):
        if preprocessing.get(key) and outputs and [feature.type for feature in outputs] != ["binary"]:
            message = "classes can be balanced only where the one output is binary"
            yield relation(message, "preprocessing", key, found=preprocessing[key])
