"""Fields of a status beyond the applied ones: server-side apply keeps a field that somebody else has also written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from pydantic.alias_generators import to_camel, to_snake

from trainwright_api.resource.status import TrainingJobStatus
from trainwright_api.schema.field_schema import schema_of

Parts = Mapping[str, Any]
"""Fields, by their Python names, that are ignored: completely (True), or in part."""

NOTHING: Parts = MappingProxyType({})
KEYS: Mapping[str, str] = MappingProxyType(
    {to_camel(name): key for name, info in TrainingJobStatus.model_fields.items() if (key := schema_of(info).keyed_by)}
)
"""The key that identifies an item in each list of a status."""


def stale_fields(found: Any, wanted: Any, spared: Parts = NOTHING, at: str = "") -> Iterator[str]:
    """Yield JSON pointers (RFC 6901) in an order in which they can be removed one after the other."""
    if not (isinstance(found, Mapping) and isinstance(wanted, Mapping)):
        return
    for key, value in found.items():
        pointer, aside = f"{at}/{_escaped(key)}", spared.get(to_snake(key))
        if aside is True:
            continue
        if key not in wanted and aside is None:
            yield pointer
        elif isinstance(value, list) and isinstance(wanted.get(key), list) and key in KEYS:
            yield from _in_list(value, wanted[key], KEYS[key], pointer)
        else:
            yield from stale_fields(value, wanted.get(key, NOTHING), aside or NOTHING, pointer)


def _in_list(found: list[Any], wanted: list[Any], key: str, at: str) -> Iterator[str]:
    """Go from the last item to the first, since a removal shifts the items behind it."""
    known = {item[key]: item for item in wanted}
    for index, item in reversed(list(enumerate(found))):
        if item[key] in known:
            yield from stale_fields(item, known[item[key]], at=f"{at}/{index}")
        else:
            yield f"{at}/{index}"


def _escaped(key: str) -> str:
    return key.replace("~", "~0").replace("/", "~1")
