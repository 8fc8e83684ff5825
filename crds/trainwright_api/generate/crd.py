"""The CustomResourceDefinition of `TrainingJob`: names, columns, rules, and the schema of its fields."""

from __future__ import annotations

from typing import Any

from trainwright_api.generate.blocks import dump
from trainwright_api.generate.schema import Schema, first_line, strict
from trainwright_api.resource.job import API_VERSION, FIXED, KIND, TrainingJob, TrainingJobSpec, fixed
from trainwright_api.resource.stages import TASKS_OF_A_MODEL
from trainwright_api.resource.status import TrainingJobStatus

GROUP, _, VERSION = API_VERSION.partition("/")

_HEADER = "# `make generate` writes this file from the models.\n"

_COLUMNS = (
    ("PHASE", "string", ".status.phase", 0, "The state in one word."),
    ("PROGRESS", "string", ".status.progress.summary", 0, "Percent done and time left, or the trials of a search."),
    ("METRIC", "string", ".status.progress.metric", 0, "The validation metric, or the best score of a search."),
    ("WORKERS", "integer", ".status.resolved.workers", 0, "The number of workers."),
    ("ATTEMPT", "integer", ".status.attempt", 0, "The current or last attempt."),
    ("AGE", "date", ".metadata.creationTimestamp", 0, "When the job was created."),
    ("STRATEGY", "string", ".status.resolved.strategy", 1, "How gradients meet."),
    ("EPOCH", "integer", ".status.progress.epoch", 1, "The epoch that is being trained."),
    ("ETA", "string", ".status.progress.eta", 1, "The time left."),
    ("MESSAGE", "string", ".status.message", 1, "One line that says how it goes, or why it failed."),
)


def crd() -> str:
    """Return the CRD as YAML."""
    return _HEADER + dump(_crd())


def _crd() -> dict[str, Any]:
    names = {
        "kind": KIND,
        "listKind": f"{KIND}List",
        "plural": "trainingjobs",
        "singular": "trainingjob",
        "shortNames": ["tj"],
        "categories": ["all"],
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"trainingjobs.{GROUP}"},
        "spec": {"group": GROUP, "names": names, "scope": "Namespaced", "versions": [_version()]},
    }


def _version() -> dict[str, Any]:
    return {
        "name": VERSION,
        "served": True,
        "storage": True,
        "subresources": {"status": {}},
        "additionalPrinterColumns": [_column(*column) for column in _COLUMNS],
        "schema": {"openAPIV3Schema": schema()},
    }


def _column(name: str, kind: str, path: str, priority: int, description: str) -> dict[str, Any]:
    column = {"name": name, "type": kind, "jsonPath": path, "description": description}
    return column | ({"priority": priority} if priority else {})


def schema() -> Schema:
    """Return the schema of the whole resource."""
    properties = {
        "apiVersion": {"type": "string", "description": "The API's group and version."},
        "kind": {"type": "string", "description": "The kind of this resource."},
        "metadata": {"type": "object"},
        "spec": strict(TrainingJobSpec) | {"x-kubernetes-validations": _rules_of_spec()},
        "status": strict(TrainingJobStatus),
    }
    return {
        "type": "object",
        "description": first_line(TrainingJob),
        "required": ["spec"],
        "properties": properties,
        "x-kubernetes-validations": [_immutable(name) for name in FIXED],
    }


def _rules_of_spec() -> list[dict[str, str]]:
    tasks = ", ".join(f"'{task}'" for task in TASKS_OF_A_MODEL)
    of_a_model = f"(has(self.task) && self.task in [{tasks}])"
    return [
        _rule(
            "[has(self.config), has(self.model), has(self.entrypoint)].exists_one(given, given)",
            "exactly one of config, model and entrypoint says what to do",
        ),
        _rule(f"{of_a_model} == has(self.model)", "model is given for task evaluate and predict, and for no other"),
        _rule("has(self.dataset) || has(self.entrypoint)", "dataset is missing: name the data"),
    ]


def _immutable(name: str) -> dict[str, str]:
    started = "has(oldSelf.status) && has(oldSelf.status.startTime)"
    same = f"has(self.spec.{name}) == has(oldSelf.spec.{name})"
    # CEL ignores undeclared keys, but only those of the left operand, so the rule compares in both directions.
    both_ways = f"self.spec.{name} == oldSelf.spec.{name} && oldSelf.spec.{name} == self.spec.{name}"
    equal = f"(!has(self.spec.{name}) || ({both_ways}))"
    return _rule(f"!({started}) || ({same} && {equal})", fixed(name)) | {"fieldPath": f".spec.{name}"}


def _rule(rule: str, message: str) -> dict[str, str]:
    return {"rule": rule, "message": message}
