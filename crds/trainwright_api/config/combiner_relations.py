"""What must fit together between the combiner and the features."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pydantic_core import InitErrorDetails

from trainwright_api.config.outlines import NO_REDUCTION, Outline, mapping
from trainwright_api.problems import nearest
from trainwright_api.schema.section import relation, unknown_word


def combiner_mistakes(given: Any, inputs: list[Outline], outputs: list[Outline]) -> Iterator[InitErrorDetails]:
    """All mistakes between `given`, the combiner as the file has it (a word or a section), and the features."""
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
        case "transformer":
            yield from _reduction_mistakes(combiner, outputs)


def _attention_mistakes(inputs: list[Outline]) -> Iterator[InitErrorDetails]:
    types = {feature.type for feature in inputs}
    if inputs and types <= {"number", "binary"}:
        message = "tabtransformer attends to the inputs that are neither number nor binary, and there are none"
        yield relation(message, "combiner")


def _reduction_mistakes(combiner: Mapping[str, Any], outputs: list[Outline]) -> Iterator[InitErrorDetails]:
    """Without `reduce_output` the combiner returns a sequence, and every decoder takes one vector."""
    if combiner.get("reduce_output", "mean") not in NO_REDUCTION:
        return
    for feature in outputs:
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
