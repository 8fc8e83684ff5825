"""The administrator's policy: what a TrainingJob may ask of the cluster. `policies/forbidden.py` applies it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

ANY = "*"
RESTRICTED_VOLUMES = (
    *("configMap", "csi", "downwardAPI", "emptyDir", "ephemeral", "persistentVolumeClaim", "projected", "secret"),
)
"""The kinds of volumes that the Pod Security Standard *restricted* allows."""
HOST_SETTINGS = ("hostNetwork", "hostIPC", "root", "capabilities", "privileged")
"""Settings that the Pod Security Standard *restricted* forbids."""


@dataclass(frozen=True)
class Policy:
    """The defaults are those of the chart. A maximum of 0 is none."""

    inline_keys: bool = False
    """True: `backend.cache_credentials` and `backend.credentials` may hold keys in plain text."""
    volumes: tuple[str, ...] = RESTRICTED_VOLUMES
    """The kinds of volumes in `podTemplate`, or `*`."""
    service_accounts: tuple[str, ...] = ("default",)
    """The service accounts of pods, or `*`."""
    registries: tuple[str, ...] = (ANY,)
    """The registries of the images of jobs, or folders in them; `*` for all. The chart's image is always allowed."""
    host_settings: tuple[str, ...] = ()
    """Of HOST_SETTINGS, those that `podTemplate` may use."""
    max_workers_per_job: int = 0
    max_gpus_per_job: int = 0
    max_workers_per_namespace: int = 0
    max_gpus_per_namespace: int = 0

    @property
    def limits_namespaces(self) -> bool:
        return bool(self.max_workers_per_namespace or self.max_gpus_per_namespace)

    @property
    def most_workers(self) -> int:
        """The maximum of workers of one job. 0: none."""
        return _smallest(self.max_workers_per_job, self.max_workers_per_namespace)

    @property
    def most_gpus(self) -> int:
        """The maximum of GPUs of one job. 0: none."""
        return _smallest(self.max_gpus_per_job, self.max_gpus_per_namespace)

    def mistakes(self) -> Iterator[str]:
        for word in self.host_settings:
            if word not in HOST_SETTINGS:
                yield f"policy host_settings: {word!r} is none of {', '.join(HOST_SETTINGS)}"


def _smallest(*limits: int) -> int:
    return min((limit for limit in limits if limit), default=0)
