"""The two lengths of a column of tokens, which may come from a feature and from `defaults`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic_core import InitErrorDetails

from trainwright_api.config.feature import Feature
from trainwright_api.schema.section import relation


def length_mistakes(features: Sequence[Feature], key: str) -> Iterator[InitErrorDetails]:
    """Yield each `sequence_length` above `max_sequence_length`, which would cut it. `key`: that of the features."""
    for position, feature in enumerate(features):
        section = getattr(feature, "preprocessing", None)
        length, most = (getattr(section, name, None) for name in ("sequence_length", "max_sequence_length"))
        if length is not None and most is not None and length > most:
            message = f"is {length}, and max_sequence_length cuts at {most}: raise that too, or set it to null"
            yield relation(message, key, position, "preprocessing", "sequence_length", found=length)
