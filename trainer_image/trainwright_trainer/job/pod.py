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
    termination_log: Path = TERMINATION_LOG


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
    )


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
