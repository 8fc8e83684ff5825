"""Mutations of an object: each changes one place of it."""

from __future__ import annotations

import copy
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from typing import Any

from testkit.contract import texts

Location = tuple[str | int, ...]
Mutation = Callable[[random.Random, Any, Any], None]
"""Changes the value at a key, or an index, of a container."""

TYPES: tuple[Any, ...] = (None, True, False, 0, 1, -1, 3.0, 2.5, "", "x", "3", [], ["x"], {}, {"x": 1}, [{}], [None])
NUMBERS: tuple[Any, ...] = (
    *(-1, 0, 1, 2, 1001, 1024, 1025, 10_000, 10_001, 1_000_001, 2**31 - 1, 2**31, 2**32, 2**53, 2**53 + 2),
    *(2**53 - 1, 2**63 - 1, 2**63, 2**64, -(2**63), 10**30, 0.5, 1.0, 100.0, 1e15, -0.5, -0.0, 1e300, 5e-324),
)
TEXTS: tuple[str, ...] = (
    *(
        "",
        " ",
        "a ",
        " a",
        "a\n",
        "\n",
        "-a",
        "a-",
        "a..b",
        ".a",
        "A",
        "a_b",
        "a/b",
        "a/b/c",
        "/a",
        "a/",
        "ä",
        "漢",
        "😀",
    ),
    *(
        "\u0000",
        "a\u0000",
        "\u2028",
        "1e3",
        "1E",
        "5ki",
        "5Ki",
        "1..2",
        "--1",
        "0x10",
        "1 Gi",
        "auto",
        "Auto",
        "auto\n",
    ),
    *(
        "true",
        "True",
        "null",
        "2.56",
        "2.56.1",
        "v2.56.1",
        "2026-05-01",
        "2026-05-01T12:00:00",
        "a.b.c",
        "a.1b",
        "=",
        "$(A)",
    ),
    *("train", "Train", "deleteJob", "DeleteJob", "noschedule", "None", "2026-13-01T00:00:00Z", "9" * 64, "9" * 65),
)
SIZES = (
    *(62, 63, 64, 65, 252, 253, 254, 255, 256, 257, 316, 317, 318, 1023, 1024, 1025),
    *(4096, 4097, 5120, 5121, 6144, 6145, 32_768, 32_769),
)
COUNTS = (10, 11, 16, 17, 32, 33, 64, 65, 256, 257)


def mutated(rng: random.Random, made: Any, leave_out: Sequence[Location] = ()) -> Any:
    """A copy with at most three mistakes, none at or below the locations in `leave_out`."""
    changed = copy.deepcopy(made)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        places = [at for at in locations(changed) if not any(_below(at, out) for out in leave_out)]
        if not places:
            break
        *parents, key = rng.choice(places)
        tried = copy.deepcopy(changed)
        rng.choice(MUTATIONS)(rng, _found(tried, parents), key)
        if not any(_replaced(changed, tried, out) for out in leave_out):
            changed = tried
    return changed


def locations(value: Any, at: Location = ()) -> Iterator[Location]:
    """The locations of every value except the root."""
    for key, item in value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ():
        yield (*at, key)
        yield from locations(item, (*at, key))


def _below(at: Location, other: Location) -> bool:
    return at[: len(other)] == other


def _found(value: Any, at: Sequence[str | int]) -> Any:
    """Raises LookupError or TypeError if the location does not exist."""
    for key in at:
        value = value[key]
    return value


def _replaced(before: Any, after: Any, at: Location) -> bool:
    """True if a swap with a neighbour replaced the value at the location."""
    with suppress(LookupError, TypeError):
        return bool(_found(before, at) != _found(after, at))
    return False


def drop(_: random.Random, container: Any, key: Any) -> None:
    del container[key]


def rename(rng: random.Random, container: Any, key: Any) -> None:
    if isinstance(container, dict):
        container[_renamed(rng, key)] = container.pop(key)


def add(rng: random.Random, container: Any, key: Any) -> None:
    value = copy.deepcopy(rng.choice(TYPES))
    if isinstance(container, dict):
        container[rng.choice(["unknown", "name", "key", "", "a/b", "Ä", _renamed(rng, key)])] = value
    else:
        container.insert(key, value)


def retype(rng: random.Random, container: Any, key: Any) -> None:
    container[key] = copy.deepcopy(rng.choice(TYPES))


def renumber(rng: random.Random, container: Any, key: Any) -> None:
    numbers = rng.random() < 0.2 or isinstance(container[key], int | float)
    container[key] = rng.choice(NUMBERS) if numbers else rng.choice(TEXTS)


def reword(rng: random.Random, container: Any, key: Any) -> None:
    value = container[key]
    container[key] = (
        rng.choice([rng.choice(TEXTS), _edited(rng, value)]) if isinstance(value, str) else rng.choice(TEXTS)
    )


def stretch(rng: random.Random, container: Any, key: Any) -> None:
    """Grow a text, list or mapping to its size limits and beyond."""
    value, count = container[key], rng.choice(COUNTS)
    if isinstance(value, list) and value:
        container[key] = [_numbered(copy.deepcopy(value[index % len(value)]), index) for index in range(count)]
    elif isinstance(value, dict) and value:
        container[key] = {**value, **{f"k{index}": next(iter(value.values())) for index in range(count - len(value))}}
    else:
        container[key] = rng.choice(["a", "7", "ä"]) * rng.choice(SIZES)


def double(rng: random.Random, container: Any, key: Any) -> None:
    """Duplicate an item of the container, or of the list at the key."""
    items = container if isinstance(container, list) else container[key]
    if isinstance(items, list) and items:
        items.append(copy.deepcopy(rng.choice(items)))


def nest(rng: random.Random, container: Any, key: Any) -> None:
    container[key] = rng.choice([[container[key]], {"a": container[key]}])


def swap(rng: random.Random, container: Any, key: Any) -> None:
    other = rng.choice(list(container) if isinstance(container, dict) else range(len(container)))
    container[key], container[other] = container[other], container[key]


MUTATIONS: tuple[Mutation, ...] = (
    drop,
    rename,
    add,
    retype,
    retype,
    renumber,
    renumber,
    reword,
    stretch,
    double,
    nest,
    swap,
)


def _renamed(rng: random.Random, key: Any) -> str:
    name = str(key)
    snake = "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)
    return rng.choice([snake, name.upper(), name.capitalize(), name + "s", name[:-1], f"{name} ", "unknown"])


def _edited(rng: random.Random, value: str) -> str:
    """Insert one letter."""
    at = rng.randint(0, len(value))
    return value[:at] + rng.choice(texts.ODD) + value[at:]


def _numbered(item: Any, number: int) -> Any:
    """Give the item a name of its own, so that only the list's length is wrong."""
    if isinstance(item, dict):
        return {key: f"{value}{number}" if key in ("name", "mountPath") else value for key, value in item.items()}
    return item
