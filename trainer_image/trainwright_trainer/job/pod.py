"""The pod of this process, from environment variables that the operator sets. No other module reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from trainwright_api.problems import Mistakes
from trainwright_api.resource import environment as names

TERMINATION_LOG = Path("/dev/termination-log")
"""Kubernetes keeps the content of this file when the container terminates."""


@dataclass(frozen=True)
class Address:
    """The address for progress reports, with token and CA. The files are mounted, and may be rotated."""

    url: str
    token_file: Path
    ca: Path | None
    """None: the CA certificates of the image."""


LOCAL_RANK = "TRAINWRIGHT_LOCAL_RANK"
"""Set in the processes that a pod of several workers starts beside its first one."""


@dataclass(frozen=True)
class GangMember:
    """This process in the gang of an Indexed Job: `local_world` processes in each pod, `world` in all.

    `address` and `port`: of the store where the processes meet, in the first pod.
    """

    rank: int
    world: int
    local_rank: int
    local_world: int
    address: str
    port: int


@dataclass(frozen=True)
class Pod:
    """The pod of one attempt of a TrainingJob. `stage`: its stage, which is the task or `preprocess`."""

    attempt: int
    stage: str
    uid: str = ""
    run: str | None = None
    """The run folder. None if the job has no output."""
    address: Address | None = None
    contract: str | None = None
    ray_version: str | None = None
    workers: int | None = None
    """The number of training workers, if the operator has resolved it."""
    cpus: int | None = None
    """The number of CPUs that each process may use."""
    member: GangMember | None = None
    """None if the pod is not one of a gang."""
    termination_log: Path = TERMINATION_LOG

    @property
    def reports(self) -> bool:
        """True if this process reports progress and outcome: in a gang rank 0 does, for all."""
        return self.member is None or self.member.rank == 0


def this_pod(environment: Mapping[str, str]) -> Pod | None:
    """The pod of this process, or None if the operator did not start it. Raises `Mistakes` for invalid variables."""
    attempt = environment.get(names.ATTEMPT)
    if attempt is None:
        return None
    return Pod(
        attempt=_number(attempt, names.ATTEMPT),
        stage=_given(environment, names.STAGE),
        uid=_given(environment, names.UID),
        run=environment.get(names.RUN),
        address=_address(environment),
        contract=environment.get(names.CONTRACT),
        ray_version=environment.get(names.RAY_VERSION),
        workers=_number(environment[names.WORKERS], names.WORKERS) if names.WORKERS in environment else None,
        cpus=_number(environment[names.CPUS], names.CPUS) if names.CPUS in environment else None,
        member=_member(environment) if names.MASTER_ADDRESS in environment else None,
    )


def _member(environment: Mapping[str, str]) -> GangMember:
    world, per_pod = (_number(_given(environment, name), name) for name in (names.WORKERS, names.WORKERS_PER_POD))
    index = _index(environment.get(names.COMPLETION_INDEX), names.COMPLETION_INDEX)
    local_rank = _index(environment.get(LOCAL_RANK, "0"), LOCAL_RANK)
    return GangMember(
        rank=index * per_pod + local_rank,
        world=world,
        local_rank=local_rank,
        local_world=min(per_pod, world - index * per_pod),  # the last pod has the rest
        address=_given(environment, names.MASTER_ADDRESS),
        port=_number(_given(environment, names.MASTER_PORT), names.MASTER_PORT),
    )


def _index(text: str | None, name: str) -> int:
    if text is None or not (text.isascii() and text.isdecimal()):
        raise Mistakes.one(name, f"expected a whole number, from 0, found {text!r}")
    return int(text)


def _number(text: str, name: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise Mistakes.one(name, f"expected a whole number, from 1, found {text!r}")
    return int(text)


def _given(environment: Mapping[str, str], name: str) -> str:
    found = environment.get(name)
    if not found:
        raise Mistakes.one(name, f"missing: the environment of a pod has it beside {names.ATTEMPT}")
    return found


def _address(environment: Mapping[str, str]) -> Address | None:
    url, ca = environment.get(names.PROGRESS_URL), environment.get(names.CA)
    if not url:
        return None
    return Address(url, Path(_given(environment, names.TOKEN_FILE)), Path(ca) if ca else None)
