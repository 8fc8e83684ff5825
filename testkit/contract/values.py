"""Random values of a section, generated from the field schemas: valid, and often at a limit."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

from testkit.contract import texts
from trainwright_api.schema.field_schema import FieldSchema, schema_of
from trainwright_api.schema.section import Section

MOST_ITEMS = 4
MAX_CHARACTERS = 5000
KEYS = ("team", "a", "Z.9_-z", "cpu", "nvidia.com/gpu", f"{'a' * 253}/{'b' * 63}")


class Maker:
    """`chance` is the probability of an optional field."""

    def __init__(self, rng: random.Random, chance: float = 0.5) -> None:
        self.rng = rng
        self.chance = chance

    def section(self, section: type[Section], leave_out: frozenset[str] = frozenset()) -> dict[str, Any]:
        fields = {info.alias or name: info for name, info in section.model_fields.items() if name not in leave_out}
        chosen = {key: info for key, info in fields.items() if info.is_required() or self.rng.random() < self.chance}
        made = {key: self.value(schema_of(info)) for key, info in chosen.items()}
        return made | self._more() if section.model_config.get("extra") == "allow" else made

    def value(self, schema: FieldSchema) -> Any:
        match schema.kind:
            case "flag":
                return self.rng.random() < 0.5
            case "integer":
                return self._integer(schema.limits)
            case "number":
                return self._number(schema.limits)
            case "text":
                return self._text(schema)
            case "words":
                return self.rng.choice(schema.words)
            case "union":
                return self.value(self.rng.choice(schema.branches))
            case "section":
                return self.section(schema.section)
            case "list":
                return self._list(schema)
            case "map":
                return self._map(schema)
            case _:
                return self.anything()

    def anything(self, depth: int = 2) -> Any:
        rng = self.rng
        plain = (None, True, -7, 2**53, 1.5, "", "text", texts.of(rng, texts.ODD, 8))
        if not depth or rng.random() < 0.6:
            return rng.choice(plain)
        items = [self.anything(depth - 1) for _ in range(rng.randint(0, 2))]
        return items if rng.random() < 0.5 else {texts.of(rng, "ab.-/", 3): item for item in items}

    def _integer(self, limits: Mapping[str, Any]) -> int:
        least, most = int(limits.get("ge", -(2**31))), int(limits.get("le", 2**53))
        return self.rng.choice([least, most, self.rng.randint(least, most), self.rng.randint(least, min(most, 100))])

    def _number(self, limits: Mapping[str, Any]) -> float:
        least, most = float(limits.get("ge", -1e300)), float(limits.get("le", 1e300))
        return self.rng.choice([least, most, self.rng.uniform(least, most), 1, 0.5, 1e-300])

    def _text(self, schema: FieldSchema) -> str:
        limits = schema.limits
        most = limits.get("max_length", MAX_CHARACTERS)
        return texts.text(self.rng, limits.get("pattern", ""), limits.get("min_length", 0), most)

    def _list(self, schema: FieldSchema) -> list[Any]:
        assert schema.item is not None
        made = [self.value(schema.item) for _ in range(self._count(schema))]
        return list({item[schema.keyed_by]: item for item in made}.values()) if schema.keyed_by else made

    def _map(self, schema: FieldSchema) -> dict[str, Any]:
        assert schema.item is not None
        return {self._key(schema): self.value(schema.item) for _ in range(self._count(schema))}

    def _key(self, schema: FieldSchema) -> str:
        is_any = schema.keys is None or not schema.keys.pattern
        return texts.of(self.rng, texts.ODD, self.rng.randint(1, 12)) if is_any else self.rng.choice(KEYS)

    def _count(self, schema: FieldSchema) -> int:
        most = schema.limits.get("max_length", MOST_ITEMS)
        return most if most <= 16 and self.rng.random() < 0.05 else self.rng.randint(0, MOST_ITEMS)

    def _more(self) -> dict[str, Any]:
        """A random volume source."""
        return {self.rng.choice(["emptyDir", "secret", "persistentVolumeClaim"]): {"a": self.anything()}}
