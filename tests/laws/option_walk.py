"""All fields of a job, from the classes of the contract. A new field is found without a list."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from trainwright_api.config.layers import FullyConnectedLayer, NormParams
from trainwright_api.schema.choice import Choice, Chosen
from trainwright_api.schema.field_schema import FieldSchema, schema_of
from trainwright_api.schema.section import Section

# Sections that occur in many others, where one function reads them. They are walked once for each enclosing class.
_SHARED = (NormParams, FullyConnectedLayer)
# Fields of every layer, each read by one function. All their words are tested once.
_OF_LAYERS = ("activation", "norm", "weights_initializer", "bias_initializer", "embedding_initializer")


@dataclass(frozen=True)
class Option:
    """A field at one path. `fully`: test every value here. Where its class occurs again, one value is enough."""

    path: str
    schema: FieldSchema
    default: Any
    fully: bool


class Walk:
    """`built(path)` is True if this version supports the section at the path, so that its fields act."""

    def __init__(self, built: Callable[[str], bool]) -> None:
        self._built = built
        self._seen: set[object] = set()

    def section(self, kind: type[Section], path: str = "", above: type[Section] | None = None) -> Iterator[Option]:
        """All options in a section of class `kind`. `above`: the class of the enclosing section."""
        again = kind in self._seen
        if again and kind in _SHARED and (kind, above) in self._seen:
            return
        self._seen |= {kind, (kind, above)}
        for name, info in kind.model_fields.items():
            if name == "type" and issubclass(kind, Chosen):
                continue  # the option is the section itself, with its types as values
            default = None if info.is_required() else info.get_default(call_default_factory=True)
            place = f"{path}.{info.alias or name}".removeprefix(".")
            fully = not again and not self._known_from_layers(name)
            yield from self._field(Option(place, _schemas(kind)[name], default, fully), kind)

    def _known_from_layers(self, name: str) -> bool:
        bare = name.removeprefix("fc_")
        known = bare in self._seen
        self._seen |= {bare} & set(_OF_LAYERS)
        return known

    def _field(self, option: Option, above: type[Section]) -> Iterator[Option]:
        schema, item, path = option.schema, option.schema.item, option.path
        if schema.kind == "list" and item is not None and item.choice is not None:
            yield from self._listed(option, item.choice)
            return
        inside = self._built(path)
        # A section that is required, or absent by default, is tested through its fields.
        if schema.kind != "section" or not inside or (schema.nullable and option.default is not None):
            yield option
        if schema.kind == "section" and inside:
            yield from self.section(schema.section, path, above)
        elif schema.choice is not None:
            yield from self._chosen(path, schema.choice, above)
        elif item is not None and item.kind == "section":
            yield from self.section(item.section, f"{path}[0]", above)

    def _chosen(self, path: str, choice: Choice, above: type[Section]) -> Iterator[Option]:
        for word in choice.words:
            kind = choice.section(word)
            # Every layer has initializers, and one function reads them. A bias does not allow all of them.
            known = choice.noun == "initializer" and (kind in self._seen or not path.endswith("weights_initializer"))
            if self._built(f"{path}[{word}]") and not known:
                yield from self.section(kind, f"{path}[{word}]", above)

    def _listed(self, option: Option, choice: Choice) -> Iterator[Option]:
        """The options of a list of features: those of each built type, and the type itself of the others."""
        for word in choice.words:
            path = f"{option.path}[{word}]"
            if self._built(path):
                yield from self.section(choice.section(word), path)
            else:
                yield Option(f"{path}.type", FieldSchema("words", words=(word,)), None, option.fully)


@cache
def _schemas(kind: type[Section]) -> dict[str, FieldSchema]:
    return {name: schema_of(info) for name, info in kind.model_fields.items()}
