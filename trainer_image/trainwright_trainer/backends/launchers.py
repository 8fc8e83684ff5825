"""The launcher of this process (torchrun, horovodrun or mpirun), from the environment variables that it sets.

This module does not import torch, because every command calls it.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass
from itertools import chain
from pathlib import Path

from trainwright_api.problems import Mistakes
from trainwright_trainer.job.pod import Pod

OWN = "TRAINWRIGHT_WORKER"
"""Set in the workers that a run starts by itself."""
OPERATOR = "the operator"
DEFAULT_PORT = 29500
# The variables of a process, by launcher: rank, world, local rank, local world.
_VARIABLES = {
    "horovodrun": ("HOROVOD_RANK", "HOROVOD_SIZE", "HOROVOD_LOCAL_RANK", "HOROVOD_LOCAL_SIZE"),
    "torchrun": ("RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE"),
    "mpirun": (
        "OMPI_COMM_WORLD_RANK",
        "OMPI_COMM_WORLD_SIZE",
        "OMPI_COMM_WORLD_LOCAL_RANK",
        "OMPI_COMM_WORLD_LOCAL_SIZE",
    ),
}
_NAMES = ("TORCHELASTIC_RUN_ID", "PMIX_NAMESPACE")
_HOROVOD_SERVER = ("HOROVOD_GLOO_RENDEZVOUS_ADDR", "HOROVOD_GLOO_RENDEZVOUS_PORT")


@dataclass(frozen=True)
class Launch:
    """This process among `world` processes. `local_rank` and `local_world` count those of this machine.

    `address` and `port`: of the store where the processes meet, which rank 0 serves, or the launcher if
    `launcher_serves`; with horovodrun, those of its own server, where rank 0 publishes its address.
    """

    launcher: str
    rank: int
    world: int
    local_rank: int
    local_world: int
    address: str
    port: int
    name: str = ""
    """The launcher's name of this start of processes, which keeps those of two apart."""
    launcher_serves: bool = False
    restart: int = 0
    """The number of times that the launcher has started the processes again."""

    @property
    def is_on_one_machine(self) -> bool:
        return self.local_world == self.world

    @property
    def is_own(self) -> bool:
        """True for a worker that a run has started by itself, or that the operator has."""
        return self.launcher in ("trainwright", OPERATOR)

    @property
    def parent(self) -> str:
        """The process that has started this one. Equal after a restart by the launcher, and then only."""
        stat = Path(f"/proc/{os.getppid()}/stat").read_text(errors="replace")
        return f"{os.uname().nodename}:{os.getppid()}:{stat.rpartition(')')[2].split()[19]}"


def launch_of(environment: Mapping[str, str]) -> Launch | None:
    """The launch of this process, or None if no launcher has started it. Raises `Mistakes` for unusable variables."""
    for launcher, names in _VARIABLES.items():
        if all(name in environment for name in names[:2]):
            rank, world = (_number(environment, name) for name in names[:2])
            local_rank = _number(environment, names[2], rank)
            local_world = _number(environment, names[3], world)
            address, port = _meeting(launcher, environment, local_world == world)
            return Launch(
                "trainwright" if environment.get(OWN) else launcher,
                rank,
                world,
                local_rank,
                local_world,
                address,
                port,
                next((environment[name] for name in _NAMES if name in environment), ""),
                environment.get("TORCHELASTIC_USE_AGENT_STORE") == "True",
                _number(environment, "TORCHELASTIC_RESTART_COUNT", 0),
            )
    return None


def launch_of_pod(pod: Pod) -> Launch | None:
    """The launch of a process in the pods of a gang; None in another pod."""
    if pod.member is None:
        return None
    return Launch(OPERATOR, **vars(pod.member), name=f"{pod.uid}-{pod.attempt}")


def forget_launch(environment: MutableMapping[str, str]) -> None:
    """Remove the variables of a launcher that a process of Ray has inherited: the launcher has not started it."""
    for name in chain.from_iterable(_VARIABLES.values()):
        environment.pop(name, None)


def is_rank_zero(environment: Mapping[str, str]) -> bool:
    """True for a process that prints: rank 0, or the only process."""
    ranks = [environment[names[0]] for names in _VARIABLES.values() if all(name in environment for name in names[:2])]
    return not ranks or ranks[0] == "0"


def is_inside_ray(environment: Mapping[str, str]) -> bool:
    """True in a job that was submitted to Ray."""
    return "RAY_JOB_CONFIG_JSON_ENV_VAR" in environment


def _meeting(launcher: str, environment: Mapping[str, str], on_one_machine: bool) -> tuple[str, int]:
    """The address and the port where the processes meet."""
    address, port = _HOROVOD_SERVER if launcher == "horovodrun" else ("MASTER_ADDR", "MASTER_PORT")
    found = environment.get(address) or ("127.0.0.1" if on_one_machine and launcher != "horovodrun" else None)
    if found is None:
        raise Mistakes.one(address, f"missing: the processes of {launcher} run on several machines, and meet there")
    return found, _number(environment, port, DEFAULT_PORT)


def _number(environment: Mapping[str, str], name: str, default: int | None = None) -> int:
    text = environment.get(name)
    if text is None and default is not None:
        return default
    if text is None or not (text.isascii() and text.isdecimal()):
        raise Mistakes.one(name, f"expected a whole number, from 0, found {text!r}")
    return int(text)
