"""What whoever runs the operator may set. Times are seconds; tests set them to tenths."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from trainwright_api.checks.kuberay import is_closed_by_token
from trainwright_api.resource.kubernetes import VERSION
from trainwright_operator.environment import read


@dataclass(frozen=True)
class Backoff:
    """The pause before attempt n + 1 after n failures: `base` doubled each time, at most `limit`, ± `jitter`."""

    base: float = 10.0
    limit: float = 300.0
    jitter: float = 0.2


@dataclass(frozen=True)
class Settings:
    """The operator's settings. The defaults are those of the chart."""

    image: str = "trainwright:0.1.0"
    """The image of jobs that name none."""
    ray_version: str = "2.60.0"
    """The version of Ray in that image."""
    namespaces: tuple[str, ...] = ()
    """Look only here, with Roles of these namespaces. Empty: the whole cluster."""
    progress_url: str = ""
    """The address under which pods reach this operator, without a path. Empty: pods are not told to post."""
    namespace: str = "trainwright"
    """The operator's own: its Lease and its certificates lie here."""
    identity: str = ""
    """This pod's name, the holder of the Lease."""

    max_workers: int = 64
    """The most workers that a job gets which leaves their number to the cluster."""
    backoff: Backoff = field(default_factory=Backoff)
    stop_grace: float = 120.0
    """How long a child that was asked to stop may take before it is deleted."""
    gang_grace: float = 30.0
    """How long a gang of which some pods find no room keeps what it has while other jobs wait for room; the one that
    waits longest keeps it twice as long. Without others it keeps it until `startDeadlineSeconds`."""
    overlap_grace: float = 60.0
    """How long past its grace period a pod on a lost node still holds up the next attempt."""
    unreachable_seconds: int = 30
    """How long pods tolerate a node that is not ready or not reachable."""

    resync: float = 600.0
    """Every job is looked at again at least so often, ± 10 %."""
    concurrency: int = 16
    """Jobs that are looked at side by side."""
    request_timeout: float = 30.0
    """No request to the API server may hang for longer."""
    watch_timeout: float = 300.0
    """A watch is opened anew after so long."""
    retry_base: float = 0.2
    """The first pause after an API error; doubled each time."""
    retry_limit: float = 60.0
    """The longest such pause."""
    stale_after: float = 900.0
    """Liveness fails when a watch has heard nothing from the API server for so long."""

    lease_duration: float = 12.0
    """A Lease that was not renewed for so long is free."""
    lease_renew: float = 3.0
    """How often the holder renews it. It gives up after two thirds of the duration without success."""

    server_port: int = 9443
    """Where the TLS server of every pod listens. 0: any free port."""
    progress_interval: float = 15.0
    """`status.progress` is written at most so often, an outcome at once."""
    certificate_days: float = 90.0
    """How long the server's certificate is valid. It is made anew after two thirds."""

    @property
    def clusterwide(self) -> bool:
        return not self.namespaces

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """`TRAINWRIGHT_MAX_WORKERS=8` sets `max_workers`, and so on. Raises ValueError for what cannot be."""
        settings = read(cls, environment)
        mistakes = list(settings.mistakes())
        if mistakes:
            raise ValueError("; ".join(mistakes))
        return settings

    def mistakes(self) -> Iterator[str]:
        """What is wrong between the settings, and with values that nothing could work with."""
        for name in (
            "max_workers",
            "gang_grace",
            "concurrency",
            "request_timeout",
            "watch_timeout",
            "resync",
            "retry_base",
        ):
            if getattr(self, name) == 0:
                yield f"{name} is 0: it has to be more"
        if self.lease_renew <= 0 or self.lease_renew >= self.lease_duration * 2 / 3:
            yield (
                f"lease_renew is {self.lease_renew:g} s: it has to be more than 0 and less than "
                f"two thirds of lease_duration ({self.lease_duration:g} s)"
            )
        if self.backoff.jitter >= 1:
            yield f"backoff jitter is {self.backoff.jitter:g}: it is a share, less than 1"
        if not re.fullmatch(VERSION, self.ray_version) or not is_closed_by_token(self.ray_version):
            yield f"ray_version is {self.ray_version}: it has to be three numbers, 2.52.0 or later"
        if self.server_port > 65_535:
            yield f"server_port is {self.server_port}: ports end at 65535"
