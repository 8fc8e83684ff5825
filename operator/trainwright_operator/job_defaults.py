"""The administrator's defaults for all jobs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError

from trainwright_api.checks.error_messages import lines
from trainwright_api.paths import dotted
from trainwright_api.resource.kubernetes import PodTemplate

NO_EVICTION: Mapping[str, Any] = MappingProxyType(
    {"annotations": {"cluster-autoscaler.kubernetes.io/safe-to-evict": "false", "karpenter.sh/do-not-disrupt": "true"}}
)
"""Neither the cluster autoscaler nor Karpenter removes a node to save cost while a pod trains there."""


@dataclass(frozen=True)
class JobDefaults:
    """The defaults are those of the chart."""

    pod_template: Mapping[str, Any] = field(default_factory=lambda: dict(NO_EVICTION))
    """The defaults of `spec.podTemplate`, with all its fields and roles. The job's own values go first."""
    ttl_seconds_after_finished: int | None = None
    """The default of `spec.ttlSecondsAfterFinished`. None: no clean-up."""
    fixed_user: bool = True
    """Run pods as user and group 1000. False: the platform sets them, as OpenShift does."""

    def mistakes(self) -> Iterator[str]:
        try:
            PodTemplate.model_validate(self.pod_template)
        except ValidationError as error:
            for location, words in lines(error):
                yield f"jobs pod_template: {dotted(location)}: {words}"
