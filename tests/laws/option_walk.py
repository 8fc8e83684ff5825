"""Every field of a job, found by walking the classes of the contract: nobody has to list a new one."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from trainwright_api.config.layers import FullyConnectedLayer, NormParams
from trainwright_api.schema.choice import Choice, Chosen
from trainwright_api.schema.field_schema import Shape, shape_of
from trainwright_api.schema.section import Section

# Sections that stand in many others and are read by one function there: walked once for each class that has them.
_SHARED = (NormParams, FullyConnectedLayer)
# Fields of every layer, whose words one function each reads: all of them are tried once.
_OF_LAYERS = ("activation", "norm", "weights_initializer", "bias_initializer", "embedding_initializer")


@dataclass(frozen=True)
class Option:
    """A field at one place. `fully`: here every value is tried; where its class stands again, one is enough."""

    path: str
    shape: Shape
    default: Any
    fully: bool


class Walk:
    """`built(path)`: whether this version has the section there, so that its fields have something to do."""

    def __init__(self, built: Callable[[str], bool]) -> None:
        self._built = built
        self._seen: set[object] = set()

    def section(self, kind: type[Section], path: str = "", above: type[Section] | None = None) -> Iterator[Option]:
        """All options in a section of this class, which stands in one of the class `above`."""
        again = kind in self._seen
        if again and kind in _SHARED and (kind, above) in self._seen:
            return
        self._seen |= {kind, (kind, above)}
        for name, info in kind.model_fields.items():
            if name == "type" and issubclass(kind, Chosen):
                continue  # the option is the section itself, by the words that it can be
            default = None if info.is_required() else info.get_default(call_default_factory=True)
            place = f"{path}.{info.alias or name}".removeprefix(".")
            fully = not again and not self._known_from_layers(name)
            yield from self._field(Option(place, _shapes(kind)[name], default, fully), kind)

    def _known_from_layers(self, name: str) -> bool:
        bare = name.removeprefix("fc_")
        known = bare in self._seen
        self._seen |= {bare} & set(_OF_LAYERS)
        return known

    def _field(self, option: Option, above: type[Section]) -> Iterator[Option]:
        shape, item, path = option.shape, option.shape.item, option.path
        if shape.kind == "list" and item is not None and item.choice is not None:
            yield from self._listed(option, item.choice)
            return
        inside = self._built(path)
        # A section that must be there, or is not there by default, is tried through its fields.
        if shape.kind != "section" or not inside or (shape.nullable and option.default is not None):
            yield option
        if shape.kind == "section" and inside:
            yield from self.section(shape.section, path, above)
        elif shape.choice is not None:
            yield from self._chosen(path, shape.choice, above)
        elif item is not None and item.kind == "section":
            yield from self.section(item.section, f"{path}[0]", above)

    def _chosen(self, path: str, choice: Choice, above: type[Section]) -> Iterator[Option]:
        for word in choice.words:
            kind = choice.section(word)
            # Initializers stand in every layer, and one function reads them; biases cannot have all of them.
            known = choice.noun == "initializer" and (kind in self._seen or not path.endswith("weights_initializer"))
            if self._built(f"{path}[{word}]") and not known:
                yield from self.section(kind, f"{path}[{word}]", above)

    def _listed(self, option: Option, choice: Choice) -> Iterator[Option]:
        """A list of features: those of each type, and the types that are not built."""
        for word in choice.words:
            path = f"{option.path}[{word}]"
            if self._built(path):
                yield from self.section(choice.section(word), path)
            else:
                yield Option(f"{path}.type", Shape("words", words=(word,)), None, option.fully)


@cache
def _shapes(kind: type[Section]) -> dict[str, Shape]:
    return {name: shape_of(info) for name, info in kind.model_fields.items()}
