"""Notes on unbuilt fields for the reference and `kubectl explain`, from the table of support."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pydantic_core import PydanticUndefined

from trainwright_api.checks import support
from trainwright_api.schema.field_schema import FieldSchema, schema_of, schemas_in
from trainwright_api.schema.section import Section

NOT_BUILT = "Not built yet."


def built_sections(root: type[Section]) -> set[type[Section]]:
    """Return the sections below a root that a job can reach through built fields and words."""
    found = {root}
    waiting = [root]
    while waiting:
        new = set(_below(waiting.pop())) - found
        found |= new
        waiting += new
    return found


def lack_of(section: type[Section], name: str) -> str:
    """Return a sentence on the unbuilt part of a field in a built section, or "" if all of it is built."""
    if not support.is_built(section, name):
        default = section.model_fields[name].default
        return NOT_BUILT if default in (None, PydanticUndefined) else "Not built yet, but for the default."
    if name == "tokenizer":  # most of its words are languages, which the schema does not list
        return f"Built: {', '.join(support.words_of(section, name) or ())}."
    words = list(_unbuilt_words(section, name))
    return f"Not built yet: {', '.join(words)}." if words else ""


def _below(section: type[Section]) -> Iterator[type[Section]]:
    for name, info in section.model_fields.items():
        if support.is_built(section, name):
            for schema in schemas_in(schema_of(info)):
                yield from _sections(schema)


def _sections(schema: FieldSchema) -> Iterator[type[Section]]:
    if schema.kind == "section":
        yield schema.section
    elif schema.choice is not None:
        yield from (schema.choice.section(word) for word in support.built_words(schema.choice))


def _unbuilt_words(section: type[Section], name: str) -> Iterator[str]:
    built = support.words_of(section, name)
    for schema in schemas_in(schema_of(section.model_fields[name])):
        yield from _others(schema.words, schema.words if built is None else built)
        if schema.choice is not None:
            yield from _others(schema.choice.words, support.built_words(schema.choice))


def _others(words: Iterable[str], built: Iterable[str]) -> Iterator[str]:
    known = set(built)
    return (word for word in words if word not in known)
