"""The complete list of intended differences between pydantic and the API server, each with a reason and an example."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from testkit.contract.answers import Admission
from trainwright_api.resource.job import TrainingJob

OF_PROGRAMS = ("finalizers", "ownerReferences", "managedFields", "creationTimestamp", "deletionTimestamp")


def mistakes(made: Any) -> list[Any]:
    """The mistakes that pydantic finds in an object from JSON."""
    try:
        TrainingJob.model_validate(made, by_alias=True, by_name=False)
    except ValidationError as error:
        return list(error.errors(include_url=False))
    return []


@dataclass(frozen=True)
class Validated:
    made: Any
    answer: Admission
    mistakes: list[Any]

    @property
    def differ(self) -> bool:
        return bool(self.answer.refusal) != bool(self.mistakes)


@dataclass(frozen=True)
class Difference:
    why: str
    explains: Callable[[Validated], bool]
    """True if this difference explains an object that the two validate differently."""
    example: Mapping[str, Any]
    """Changes to a valid job, by path."""


def _is_whole(mistake: Any) -> bool:
    value = mistake["input"]
    return mistake["type"] == "int_type" and isinstance(value, float) and value.is_integer()


def is_nearly_whole(mistake: Any) -> bool:
    """True by the rule of go-openapi's swag, with which the API server checks whole numbers."""
    value = mistake["input"]
    if mistake["type"] != "int_type" or not isinstance(value, float) or value.is_integer():
        return False
    return abs(value - int(value)) < 1e-9 * (abs(value) + abs(int(value)))


def _only(holds: Callable[[Any], bool]) -> Callable[[Validated], bool]:
    """The API server accepted it, pydantic found only such mistakes, and finds none in the stored object."""
    return lambda validated: (
        not validated.answer.refusal and all(map(holds, validated.mistakes)) and not mistakes(validated.answer.stored)
    )


def _refused(*words: str) -> Callable[[Validated], bool]:
    return lambda validated: any(word in validated.answer.refusal for word in words)


DIFFERENCES = (
    Difference(
        "Go reads 3.0 as the whole number 3 and stores it so; in a file it is refused, as no value changes its kind.",
        _only(_is_whole),
        {"spec.backoffLimit": 3.0, "spec.podTemplate.resources.limits.cpu": 2.0},
    ),
    Difference(
        "A large number that is not quite whole is taken, and stored as it is; ours has to be whole.",
        lambda validated: not validated.answer.refusal and all(map(is_nearly_whole, validated.mistakes)),
        {"spec.ttlSecondsAfterFinished": 2_000_000_000.5},
    ),
    Difference(
        "Go stores a sign of its own for half a character; our readers of YAML and JSON refuse it.",
        _only(lambda mistake: mistake["type"] == "string_unicode"),
        {"spec.output": "s3://\ud800"},
    ),
    Difference(
        "A status that comes with a new object is dropped unread.",
        _only(lambda mistake: mistake["loc"][0] == "status"),
        {"status.phase": "Lost"},
    ),
    Difference(
        "Programs write these metadata, and the API server has rules of its own for them.",
        _refused(*(f"metadata.{name}" for name in OF_PROGRAMS), "parsing time", "ObjectMeta.ownerReferences"),
        {"metadata.finalizers": ["no finalizer"]},
    ),
    Difference(
        "A request has at most 3 MiB.",
        _refused("Request entity too large"),
        {"spec.podTemplate.annotations": {f"part-{number}": "x" * 65_536 for number in range(64)}},
    ),
    Difference(
        "Only a request has a namespace that the object's may differ from.",
        _refused("does not match the namespace sent on the request"),
        {"metadata.namespace": "elsewhere"},
    ),
)
