"""Select the Ray cluster: the one this process has joined, else the one that RAY_ADDRESS names, else the one that
`ray start` runs on this machine, else a new one in this machine. RAY_ADDRESS=local always starts a new one.
"""

from __future__ import annotations

import logging
import math
import os
import socket
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

import ray
from ray._private import services
from ray.exceptions import RayError

from trainwright_api.resource.backend import BackendTrainer, custom
from trainwright_trainer.backends.machine import gpus_of_this_machine
from trainwright_trainer.backends.ray.environment import METRICS
from trainwright_trainer.backends.ray.resources import WorkerResources, check_memory, check_this_machine, needs_of
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.runtime.signals import handlers_kept

ADDRESS = "RAY_ADDRESS"
NEW = "local"
# In training only worker specs and messages go through Ray's object store.
_STORE_BYTES = 128 << 20
# On a busy machine Ray may miss its own deadlines. A retry is faster, as its files are then in the page cache.
_TRIES = 3
_SECONDS_TO_ANSWER = 10.0
# The actors that Ray Train and Ray Data leave behind on the node that has used them, by name: the namespace.
_LEFT_BEHIND = {
    "AutoscalingCoordinator": "AutoscalingCoordinator",
    "ActorLocationTracker": "ActorLocationTracker",
    "datasets_stats_actor": "_dataset_stats_actor",
}


@contextmanager
def cluster(
    section: BackendTrainer,
    workers: int | None,
    *,
    alone: bool = False,
    log: Callable[[str], None],
    store_bytes: int = _STORE_BYTES,
) -> Iterator[WorkerResources]:
    """Connect to Ray and yield the resources of the workers. A Ray that is started here is shut down on exit.

    `alone`: no other run uses the cluster; on exit the actors that Ray leaves behind are killed. `log` logs the
    address of the cluster, unless RAY_ADDRESS gives it. `store_bytes`: the object store of a Ray that is started here.
    """
    if ray.is_initialized():
        yield needs_of(section, workers, *_gpus_and_cpus())
        return
    named = os.environ.get(ADDRESS) or None
    found = named or _recorded(log)
    try:
        if found in (None, NEW):
            log("starting Ray on this machine")
            needs = _start(section, workers, store_bytes, log)
        else:
            if named:
                log(f"joining the Ray at {named} ({ADDRESS})")
            _join(found, f"{found} ({ADDRESS})" if named else found)
            needs = needs_of(section, workers, *_gpus_and_cpus())
        yield needs
    finally:
        if alone and ray.is_initialized():  # `ray.get_actor` would connect again
            _leave()
        ray.shutdown()


def resources_here() -> Mapping[str, float] | None:
    """The CPUs and GPUs of the Ray that `cluster` starts on this machine; None if it joins another one."""
    if ray.is_initialized():
        return None
    found = os.environ.get(ADDRESS) or _recorded(lambda _: None)
    return {"CPU": os.cpu_count() or 1, "GPU": gpus_of_this_machine()} if found in (None, NEW) else None


def _recorded(log: Callable[[str], None]) -> str | None:
    """The address that `ray start` has recorded on this machine, as `ray.init()` finds it, if it still answers."""
    address: str | None = services.find_bootstrap_address(None)
    if address is None:
        return None
    try:
        _check_port(address)
    except OSError:
        log(f"the Ray at {address}, which `ray start` has recorded, does not answer: a new one is started here")
        return None
    log(f"joining the Ray at {address}, which `ray start` runs here ({ADDRESS}={NEW} starts a new one instead)")
    return address


def _join(address: str, shown: str) -> None:
    """Join the cluster. With `auto`, Ray uses RAY_ADDRESS, else the recorded address, and only for the latter its token
    from the home folder. Raises `EnvironmentFailure` if the cluster cannot be reached.
    """
    try:
        _check_port(address)
        with handlers_kept():
            ray.init(address="auto", log_to_driver=False, logging_level=logging.ERROR)
    except (OSError, RuntimeError, RayError) as error:
        raise EnvironmentFailure(f"Ray at {shown} cannot be reached: {_first_line(error)}") from error


def _check_port(address: str) -> None:
    """Raise `OSError` if the port is not open. Ray itself takes a quarter of an hour to notice that."""
    host, _, port = address.rpartition(":")
    if port.isdecimal() and "/" not in host:
        socket.create_connection((host.strip("[]"), int(port)), _SECONDS_TO_ANSWER).close()


def _leave() -> None:
    """Kill the actors of Ray's libraries. With one the node is not idle, and a terminating pod waits out its grace
    period."""
    for name, namespace in _LEFT_BEHIND.items():
        with suppress(ValueError, RayError):  # there is no such actor, or the cluster is gone
            ray.kill(ray.get_actor(name, namespace=namespace))


def _start(
    section: BackendTrainer, workers: int | None, store_bytes: int, log: Callable[[str], None]
) -> WorkerResources:
    """Start Ray on this machine. Workers share the cores: Ray gets as many CPUs as the workers need."""
    gpus = gpus_of_this_machine()
    needs = needs_of(section, workers, gpus, os.cpu_count() or 1)
    check_this_machine(needs, gpus)
    # Ray counts more than one piece in whole numbers.
    named = {name: math.ceil(needs.workers * share) for name, share in custom(needs.resources).items()}
    options = {
        "num_cpus": max(needs.cpus, os.cpu_count() or 1),
        "num_gpus": gpus,
        "resources": named,
        "object_store_memory": store_bytes,
        # Without the metrics of Ray Train, a dashboard of this Ray has nothing that the run does not print.
        "include_dashboard": os.environ.get(METRICS) == "1",
    }
    _init_with_retries(options, log)
    check_memory(needs, ray.cluster_resources().get("memory", 0.0))  # type: ignore[no-untyped-call]
    return needs


def _init_with_retries(options: Mapping[str, Any], log: Callable[[str], None]) -> None:
    for _ in range(_TRIES - 1):
        with suppress(EnvironmentFailure):
            _init(options, log)
            return
    _init(options, log)


def _init(options: Mapping[str, Any], log: Callable[[str], None]) -> None:
    try:
        with handlers_kept():
            started = ray.init(address="local", log_to_driver=False, logging_level=logging.ERROR, **options)
    except Exception as error:  # Ray has no narrower class for this error
        ray.shutdown()
        raise EnvironmentFailure(f"Ray cannot be started on this machine: {_first_line(error)}") from error
    if started.dashboard_url:
        log(f"Ray's dashboard: http://{started.dashboard_url} (`ray get-auth-token` prints its token)")


def _first_line(error: Exception) -> str:
    return str(error).partition("\n")[0] or type(error).__name__


def _gpus_and_cpus() -> tuple[float, float]:
    there: dict[str, float] = ray.cluster_resources()  # type: ignore[no-untyped-call]
    return there.get("GPU", 0.0), there.get("CPU", 0.0)
