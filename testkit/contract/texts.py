"""Texts that match the contract's patterns."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping

from trainwright_api.resource import kubernetes
from trainwright_api.schema.constraints import Time

LETTERS = "abcdefghijklmnopqrstuvwxyz"
DIGITS = "0123456789"
ODD = "aZ09 -_./:~äß漢😀\n\t\u0000\u200b\u2028\"'\\{}%$"
TIMES = (
    "2026-05-01T12:00:00Z",
    "2026-05-01T12:00:00.123456Z",
    "2026-12-31T23:59:59+02:00",
    "0001-01-01T00:00:00Z",
    "9999-12-31T23:59:59-11:30",
)


def text(rng: random.Random, pattern: str, least: int, most: int) -> str:
    """A text that matches the pattern, of `least` to `most` characters; sometimes the longest."""
    short = rng.choice([least, min(most, least + 1), rng.randint(least, min(most, least + 30))])
    size = most if rng.random() < 0.03 else short
    return _PATTERNS[pattern](rng, size) if pattern else of(rng, ODD, size)


def of(rng: random.Random, letters: str, size: int) -> str:
    return "".join(rng.choices(letters, k=size))


def _dns(rng: random.Random, size: int, between: str = "-") -> str:
    inner = of(rng, LETTERS + DIGITS + between, max(size, 1))
    # The pattern forbids empty parts: two dots, or a dot next to a dash.
    for pair in ("..", ".-", "-."):
        inner = inner.replace(pair, "ab")
    return "a" + inner[1:-1] + "z" if size > 1 else "a"


def _qualified(rng: random.Random, size: int) -> str:
    name = "Z" + of(rng, LETTERS + DIGITS + "-_.", max(min(size, 63) - 2, 0)) + "9"
    return name if size < 70 or rng.random() < 0.3 else _dns(rng, size - len(name) - 1, ".-") + "/" + name


def _quantity(rng: random.Random, _: int) -> str:
    number = rng.choice(["0", "1", "007", "2.", ".5", "3.25", "+4", "99999999999999999999"])
    return number + rng.choice(["", "m", "u", "n", "k", "M", "Gi", "Ei", "E", "e3", "E+2", "e-9"])


def _environment(rng: random.Random, size: int) -> str:
    return rng.choice("-._aZ") + of(rng, "-._aZ9", size - 1)


def _identifier(rng: random.Random, size: int) -> str:
    return rng.choice("_aZ") + of(rng, "_aZ9", size - 1)


def _module(rng: random.Random, size: int) -> str:
    if size > 40:
        return _identifier(rng, size)
    return ".".join(_identifier(rng, rng.randint(1, 5)) for _ in range(rng.randint(1, 5)))


def _version(rng: random.Random, _: int) -> str:
    return ".".join(str(rng.choice([0, 1, 2, 56, 100])) for _ in range(3))


_PATTERNS: Mapping[str, Callable[[random.Random, int], str]] = {
    kubernetes.DNS_LABEL: _dns,
    kubernetes.DNS_SUBDOMAIN: lambda rng, size: _dns(rng, size, ".-"),
    kubernetes.QUALIFIED: _qualified,
    kubernetes.QUANTITY: _quantity,
    kubernetes.ENVIRONMENT_NAME: _environment,
    kubernetes.IDENTIFIER: lambda rng, size: _identifier(rng, max(size, 1)),
    kubernetes.MODULE: lambda rng, size: _module(rng, max(size, 1)),
    kubernetes.VERSION: _version,
    kubernetes.DELIMITER: lambda rng, _: rng.choice(";,|\t !~^"),
    Time.pattern: lambda rng, _: rng.choice(TIMES),
    kubernetes.LABEL_VALUE: lambda rng, size: (
        of(rng, LETTERS + "Z", size) if size < 3 else f"A{of(rng, '-_.9', size - 2)}z"
    ),
}
