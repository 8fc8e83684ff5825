"""The settings of the operator. Times are in seconds; tests set them to tenths of a second."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from trainwright_api.checks.kuberay import is_closed_by_token
from trainwright_api.resource.kubernetes import DNS_LABEL, VERSION
from trainwright_operator.environment import read
from trainwright_operator.job_defaults import JobDefaults
from trainwright_operator.policy import Policy

Place = str | None
"""A namespace; None for the whole cluster."""


@dataclass(frozen=True)
class Backoff:
    """The pause before attempt n + 1 after n failures: `base` doubled each time, at most `limit`, ± `jitter`."""

    base: float = 10.0
    limit: float = 300.0
    jitter: float = 0.2


@dataclass(frozen=True)
class Resize:
    """When a job with a range of workers changes their number."""

    window: float = 300.0
    """The seconds for which there has to be room for more workers before a job grows."""
    interval: float = 900.0
    """The minimum seconds from a resize to the next growth. They double with each larger size that found no room."""
    shrink_after: float = 60.0
    """The seconds for which workers wait for room before the job goes on with fewer."""

    @property
    def check(self) -> float:
        """The interval at which a job that could grow looks at the nodes."""
        return self.window / 5

    def mistakes(self) -> Iterator[str]:
        if self.window == 0:
            yield "resize window is 0: it has to be more"


@dataclass(frozen=True)
class Settings:
    """The operator's settings. The defaults are those of the chart."""

    image: str = "trainwright:0.1.0"
    """The image of jobs that do not set one."""
    cpu_image: str = ""
    """The image of the pods of these jobs that reserve no device. Empty: `image`."""
    ray_version: str = "2.60.0"
    """The version of Ray in both images."""
    namespaces: tuple[str, ...] = ()
    """The namespaces that the operator watches, with a Role in each. Empty: the whole cluster."""
    progress_url: str = ""
    """The URL under which pods reach this operator, without a path. Empty: pods do not post progress."""
    namespace: str = "trainwright"
    """The operator's own namespace, with its Lease and its certificates."""
    identity: str = ""
    """This pod's name, the holder of the Lease."""

    max_workers: int = 64
    """The maximum of workers for a job that leaves their number to the cluster."""
    policy: Policy = field(default_factory=Policy)
    jobs: JobDefaults = field(default_factory=JobDefaults)
    backoff: Backoff = field(default_factory=Backoff)
    resize: Resize = field(default_factory=Resize)
    stop_grace: float = 120.0
    """The seconds in which a child has to stop after a stop request. Then the operator deletes it."""
    gang_grace: float = 30.0
    """The seconds for which a gang with unschedulable pods keeps its scheduled pods while other jobs wait for room. The
    gang that waits longest keeps them twice as long. If no other job waits, it keeps them until
    `startDeadlineSeconds`."""
    overlap_grace: float = 60.0
    """The seconds past its grace period in which a pod on a lost node still blocks the next attempt."""
    unreachable_seconds: int = 30
    """The seconds for which pods tolerate a node that is not ready or not reachable."""

    resync: float = 600.0
    """The interval after which every job gets a pass again, ± 10 %."""
    concurrency: int = 16
    """The maximum of concurrent passes."""
    request_timeout: float = 30.0
    """The timeout of a request to the API server."""
    watch_timeout: float = 300.0
    """The seconds for which a watch stays open before it is reopened."""
    retry_base: float = 0.2
    """The first pause after an API error. It doubles each time."""
    retry_limit: float = 60.0
    """The longest such pause."""
    stale_after: float = 900.0
    """The liveness probe fails if a watch has received nothing from the API server for this long."""

    lease_duration: float = 12.0
    """A Lease that was not renewed for this long is free."""
    lease_renew: float = 3.0
    """The interval of renewals. The holder gives up after two thirds of `lease_duration` without a renewal."""

    server_port: int = 9443
    """The port of the TLS server of every pod. 0: any free port."""
    progress_interval: float = 15.0
    """The minimum interval between writes of `status.progress`. An outcome is written at once."""
    own_certificates: bool = True
    """Create and rotate the server's certificate. False: cert-manager writes the Secret."""
    certificate_days: float = 90.0
    """The validity of the server's certificate, in days. It is renewed after two thirds of that time."""

    @property
    def clusterwide(self) -> bool:
        return not self.namespaces

    @property
    def places(self) -> tuple[Place, ...]:
        """The places that the operator watches."""
        return self.namespaces or (None,)

    def place(self, namespace: str) -> Place:
        """Return the place that the namespace belongs to."""
        return None if self.clusterwide else namespace

    @property
    def images(self) -> tuple[str, ...]:
        """The images of jobs that do not set one."""
        return (self.image, self.cpu_image) if self.cpu_image else (self.image,)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Read the settings: `TRAINWRIGHT_MAX_WORKERS=8` sets `max_workers`. Raises ValueError for invalid values."""
        settings = read(cls, environment)
        mistakes = list(settings.mistakes())
        if mistakes:
            raise ValueError("; ".join(mistakes))
        return settings

    def mistakes(self) -> Iterator[str]:
        """Yield a line for each conflict between settings and for each unusable value."""
        for name in (
            "max_workers",
            "gang_grace",
            "concurrency",
            "request_timeout",
            "watch_timeout",
            "resync",
            "retry_base",
            "retry_limit",
            "stale_after",
            "certificate_days",
        ):
            if getattr(self, name) == 0:
                yield f"{name} is 0: it has to be more"
        if self.lease_renew <= 0 or self.lease_renew >= self.lease_duration * 2 / 3:
            yield (
                f"lease_renew is {self.lease_renew:g} s: it has to be more than 0 and less than "
                f"two thirds of lease_duration ({self.lease_duration:g} s)"
            )
        if 0 < self.stale_after <= self.watch_timeout:
            # A watch of objects that nobody changes receives nothing before its end.
            watch = f"watch_timeout ({self.watch_timeout:g} s)"
            yield f"stale_after is {self.stale_after:g} s: it has to be more than {watch}"
        for name in self.namespaces:
            if not re.fullmatch(DNS_LABEL, name) or len(name) > 63:
                yield f"namespaces has {name!r}: a namespace has lowercase letters, digits and -, 63 at most"
        yield from self.policy.mistakes()
        yield from self.jobs.mistakes()
        yield from self.resize.mistakes()
        if self.backoff.jitter >= 1:
            yield f"backoff jitter is {self.backoff.jitter:g}: it is a share, less than 1"
        if not re.fullmatch(VERSION, self.ray_version) or not is_closed_by_token(self.ray_version):
            yield f"ray_version is {self.ray_version}: it has to be three numbers, 2.52.0 or later"
        if self.server_port > 65_535:
            yield f"server_port is {self.server_port}: ports end at 65535"
