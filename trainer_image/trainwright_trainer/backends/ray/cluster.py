"""A Ray to run on: the one that this process is in already, else the one that RAY_ADDRESS names, else the one that
`ray start` runs on this machine, else a new one right here. RAY_ADDRESS=local asks for a new one.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import ray
from ray._private import services
from ray.exceptions import RayError

from trainwright_api.resource.backend import BackendTrainer
from trainwright_trainer.backends.ray.resources import WorkerResources, check_this_machine, needs_of
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.runtime.signals import handlers_kept

ADDRESS = "RAY_ADDRESS"
NEW = "local"
# Nothing of ours goes through Ray's store of objects but orders and letters.
_STORE_BYTES = 128 << 20
# On a busy machine it may miss its own deadlines; what it has read by then makes the next try faster.
_TRIES = 3
_SECONDS_TO_ANSWER = 10.0
# Ray Train leaves this actor behind on the driver's node. Name and namespace are the same word.
_LEFT_BEHIND = "AutoscalingCoordinator"


@contextmanager
def cluster(
    section: BackendTrainer, workers: int | None, *, alone: bool = False, say: Callable[[str], None]
) -> Iterator[WorkerResources]:
    """What the workers need of it. A Ray that is started here is shut down at the end, with all that runs in it.

    `alone`: nobody else uses the Ray that is joined, and nothing of this run stays there. `say`: where it runs, in a
    line, unless RAY_ADDRESS says it already.
    """
    if ray.is_initialized():
        yield needs_of(section, workers, _gpus())
        return
    named = os.environ.get(ADDRESS) or None
    found = named or _recorded(say)
    try:
        if found in (None, NEW):
            needs = _start(section, workers)
        else:
            _join(found, f"{found} ({ADDRESS})" if named else found)
            needs = needs_of(section, workers, _gpus())
        yield needs
    finally:
        if alone and ray.is_initialized():  # asking for an actor would join again
            _leave()
        ray.shutdown()


def _recorded(say: Callable[[str], None]) -> str | None:
    """The Ray that `ray start` has recorded on this machine, as `ray.init()` finds it, where it still answers."""
    address: str | None = services.find_bootstrap_address(None)
    if address is None:
        return None
    try:
        _knock(address)
    except OSError:
        say(f"the Ray at {address}, which `ray start` has recorded, does not answer: a new one is started here")
        return None
    say(f"joining the Ray at {address}, which `ray start` runs here ({ADDRESS}={NEW} starts a new one instead)")
    return address


def _join(address: str, shown: str) -> None:
    """By `auto`, Ray takes RAY_ADDRESS, else the recorded one, and only for that its token from the home folder."""
    try:
        _knock(address)
        with handlers_kept():
            ray.init(address="auto", log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, RayError) as error:
        raise EnvironmentFailure(f"Ray at {shown} cannot be reached: {_first_line(error)}") from error


def _knock(address: str) -> None:
    """Raises OSError where nobody listens. Ray itself finds that out after a quarter of an hour."""
    host, _, port = address.rpartition(":")
    if port.isdecimal() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), _SECONDS_TO_ANSWER).close()


def _leave() -> None:
    """A pod that is told to end waits until its node is idle, for as long as it is given."""
    with suppress(ValueError, RayError):  # it is not there, or the cluster is not
        ray.kill(ray.get_actor(_LEFT_BEHIND, namespace=_LEFT_BEHIND))


def _start(section: BackendTrainer, workers: int | None) -> WorkerResources:
    """On this machine workers share the cores, however many they are."""
    gpus = _gpus_here()
    needs = needs_of(section, workers, gpus)
    check_this_machine(needs, gpus)
    named = {name: needs.workers * share for name, share in needs.resources.items() if name not in ("CPU", "GPU")}
    options = {
        "num_cpus": max(needs.cpus, os.cpu_count() or 1),
        "num_gpus": gpus,
        "resources": named,
        "object_store_memory": _STORE_BYTES,
    }
    for _ in range(_TRIES - 1):
        with suppress(EnvironmentFailure):
            _init(options)
            return needs
    _init(options)
    return needs


def _init(options: Mapping[str, Any]) -> None:
    try:
        with handlers_kept():
            ray.init(
                address="local", include_dashboard=False, log_to_driver=False, logging_level=logging.ERROR, **options
            )
    except Exception as error:  # Ray has no narrower class for it
        ray.shutdown()
        raise EnvironmentFailure(f"Ray cannot be started on this machine: {_first_line(error)}") from error


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def _gpus() -> float:
    there: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return there.get("GPU", 0.0)


def _gpus_here() -> int:
    import torch

    return torch.cuda.device_count()
