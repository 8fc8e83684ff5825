"""Kubernetes' object metadata, with the API server's rules for the user's fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any

from pydantic import Field, model_validator
from pydantic_core import InitErrorDetails

from trainwright_api.resource.kubernetes import ANNOTATION_KEYS, DNS_SUBDOMAIN, LABEL_KEYS, Label, LabelValue, Name
from trainwright_api.schema.section import KubernetesSection, relation, shown

# Go reads a null text as "".
_LABELS, _ANNOTATIONS = replace(LABEL_KEYS, null=""), replace(ANNOTATION_KEYS, null="")
_NAMES = ("name", "generateName", "namespace")
MOST_BYTES_OF_ANNOTATIONS = 256 * 1024
MAX_CHARACTERS = 253
KEPT_OF_A_PREFIX = 58
"""The API server cuts what it completes to a name by five letters."""


class ObjectMeta(KubernetesSection):
    """Kubernetes' object metadata. The user sets name, namespace, labels and annotations."""

    name: Name | None = Field(None, description="Name of the job. It is part of the run folder's name.")
    generate_name: str | None = Field(None, description="Prefix of a generated name (kubectl create).")
    namespace: Label | None = Field(None, description="The namespace.")
    labels: Annotated[dict[str, LabelValue], _LABELS] | None = Field(None, description="Labels of the job.")
    annotations: Annotated[dict[str, str], _ANNOTATIONS] | None = Field(None, description="Annotations of the job.")
    uid: str | None = Field(None, description="Written by the API server.")
    resource_version: str | None = Field(None, description="Written by the API server.")
    generation: int | None = Field(None, description="Written by the API server.")
    creation_timestamp: str | None = Field(None, description="Written by the API server.")
    deletion_timestamp: str | None = Field(None, description="Written by the API server.")
    deletion_grace_period_seconds: int | None = Field(None, description="Written by the API server.")
    self_link: str | None = Field(None, description="Written by the API server.")
    finalizers: list[str] | None = Field(None, description="Finalizers that must end before the object is deleted.")
    owner_references: list[Any] | None = Field(None, description="Owner references of the object.")
    managed_fields: list[Any] | None = Field(None, description="Written by the API server.")

    @model_validator(mode="before")
    @classmethod
    def _nothing_is_absence(cls, values: Any) -> Any:
        """Drop empty names: in Go an absent text equals an empty one."""
        if not isinstance(values, Mapping):
            return values
        return {key: value for key, value in values.items() if value != "" or key not in _NAMES}

    def mistakes(self) -> Iterator[InitErrorDetails]:
        if self.generate_name is not None and not self._can_be_completed(self.generate_name):
            expected = "expected the beginning of a name of lowercase letters, digits, - and . (as in nightly-)"
            yield relation(f"{expected}, found {shown(self.generate_name)}", "generateName")
        size = sum(len(key.encode()) + len(value.encode()) for key, value in (self.annotations or {}).items())
        if size > MOST_BYTES_OF_ANNOTATIONS:
            yield relation(f"expected at most {MOST_BYTES_OF_ANNOTATIONS} bytes in all, found {size}", "annotations")

    def _can_be_completed(self, prefix: str) -> bool:
        """Return True if the API server accepts the prefix and the completed name.

        It checks a prefix that ends with a dash with `a` in place of the last two characters.
        """
        seen = f"{prefix[:-2]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
        return _is_name(seen) and (self.name is not None or _is_name(f"{prefix[:KEPT_OF_A_PREFIX]}aaaaa"))


def _is_name(text: str) -> bool:
    return len(text) <= MAX_CHARACTERS and re.fullmatch(DNS_SUBDOMAIN, text) is not None
