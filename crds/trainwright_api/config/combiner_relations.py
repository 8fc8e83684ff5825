"""Checks that the combiner and the features fit together."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import InitErrorDetails

from trainwright_api.config.outlines import NO_REDUCTION, Outline, mapping
from trainwright_api.problems import nearest
from trainwright_api.schema.section import relation, unknown_word

_OF_SEQUENCES = ("sequence", "sequence_concat")
_DECODERS_OF_SEQUENCES = ("tagger", "generator")
"""Those that take each step, or reduce a sequence themselves."""
ONE_VECTOR = (
    "is null, and combiner {word!r} takes one vector for each input: name a reduction, or take combiner sequence or "
    "sequence_concat"
)

NO_SEQUENCE = "combines sequences, and each encoder gives one vector: set reduce_output to null in one of them"
NO_STEPS = (
    "a tagger gives each step of a sequence a token, and the combiner returns one vector a row: take combiner sequence "
    "or sequence_concat without a reduction, and set reduce_output to null in the encoder of a sequence"
)


def combiner_mistakes(
    given: Any, inputs: list[Outline], outputs: list[Outline], *, has_defaults: bool = False
) -> Iterator[InitErrorDetails]:
    """All mistakes between `given`, the combiner as the file has it (a word or a section), and the features.

    `has_defaults`: what a feature leaves out may stand in the section `defaults`, which is not read here.
    """
    combiner = {"type": given} if isinstance(given, str) else mapping(given)
    names = [feature.name for feature in inputs]
    main = combiner.get("main_sequence_feature")
    if isinstance(main, str) and names and main not in names:
        error = unknown_word("input feature", main, names)
        yield {"type": error, "loc": ("combiner", "main_sequence_feature"), "input": main}
    match combiner.get("type"):
        case "comparator":
            yield from _entity_mistakes(combiner, names)
        case "tabtransformer":
            yield from _attention_mistakes(inputs)
        case "transformer" | "sequence" | "sequence_concat":
            yield from _reduction_mistakes(combiner, outputs)
    yield from _form_mistakes(combiner, inputs)
    if has_defaults:
        return
    if combiner.get("type") in _OF_SEQUENCES and inputs and not any(feature.keeps_sequence for feature in inputs):
        yield relation(NO_SEQUENCE, "combiner")
    for feature in outputs:
        if feature.decoder == "tagger" and not _returns_sequence(combiner):
            yield relation(NO_STEPS, *feature.where, "decoder")


def _form_mistakes(combiner: Mapping[str, Any], inputs: list[Outline]) -> Iterator[InitErrorDetails]:
    """The encoders that keep the sequence need a combiner that takes one."""
    word = combiner.get("type", "concat")
    if word in _OF_SEQUENCES or (word == "concat" and combiner.get("flatten_inputs") is True):
        return
    for feature in inputs:
        if feature.keeps_sequence:
            yield relation(ONE_VECTOR.format(word=word), *feature.where, "encoder", "reduce_output")


def _returns_sequence(combiner: Mapping[str, Any]) -> bool:
    if combiner.get("type") not in ("transformer", *_OF_SEQUENCES):
        return False
    default = "mean" if combiner.get("type") == "transformer" else None
    if combiner.get("reduce_output", default) not in NO_REDUCTION:
        return False
    if combiner.get("type") != "sequence":
        return True
    encoder = mapping(combiner.get("encoder"))
    return encoder.get("reduce_output", "" if encoder.get("type") != "passthrough" else None) in NO_REDUCTION


def _attention_mistakes(inputs: list[Outline]) -> Iterator[InitErrorDetails]:
    types = {feature.type for feature in inputs}
    if inputs and types <= {"number", "binary"}:
        message = "tabtransformer attends to the inputs that are neither number nor binary, and there are none"
        yield relation(message, "combiner")


def _reduction_mistakes(combiner: Mapping[str, Any], outputs: list[Outline]) -> Iterator[InitErrorDetails]:
    """Without `reduce_output` the combiner returns a sequence, and most decoders take one vector."""
    if not _returns_sequence(combiner):
        return
    for feature in outputs:
        if feature.decoder in _DECODERS_OF_SEQUENCES:
            continue
        reduces = feature.type != "vector" if feature.reduces_input is None else feature.reduces_input
        if not reduces:
            message = "the combiner returns a sequence (its reduce_output is null): name a reduction"
            yield relation(message, *feature.where, "reduce_input")


def _entity_mistakes(combiner: Mapping[str, Any], names: list[str]) -> Iterator[InitErrorDetails]:
    seen: set[str] = set()
    for key in ("entity_1", "entity_2"):
        entity = combiner.get(key)
        for at, name in enumerate(entity if isinstance(entity, list) else []):
            where = ("combiner", key, at)
            if name not in names:
                near = nearest(str(name), names)
                yield relation(
                    f"{name!r} is no input feature" + (f": did you mean {near!r}?" if near else ""), *where, found=name
                )
            elif name in seen:
                yield relation(f"{name!r} belongs to both entities or stands twice", *where, found=name)
            seen.add(str(name))
    if seen and (left := [name for name in names if name not in seen]):
        yield relation(f"each input belongs to an entity; missing: {', '.join(left)}", "combiner", "entity_2")
