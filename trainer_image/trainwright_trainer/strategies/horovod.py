"""Several processes, each with the whole model: Horovod's optimizer, which sums gradients during the backward pass.

Horovod connects the ranks once more, beside the process group of torch that the backend has made.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, cast

import horovod.torch as hvd
import torch
from horovod.common.exceptions import HorovodInternalError
from horovod.runner.http.http_server import RendezvousServer
from torch import nn

from trainwright_api.config.trainer import TrainerConfig
from trainwright_trainer.distributed.ranks import PeerLost, Ranks
from trainwright_trainer.layers.batch_norm import share_batch_norm
from trainwright_trainer.loader.batch import Batch
from trainwright_trainer.models.trainable import Tensors, Trainable
from trainwright_trainer.strategies.precision import Forward
from trainwright_trainer.strategies.torch_engine import TorchEngine

GROUP_BYTES = 25 * 2**20
"""Gradients are summed in groups of about this size, the default of torch's DDP."""

_SETTINGS = {
    "HOROVOD_CONTROLLER": "gloo",
    "HOROVOD_CPU_OPERATIONS": "gloo",
    # Otherwise the groups that are ready at the same moment are summed as one, which changes the last bits.
    "HOROVOD_DISABLE_GROUP_FUSION": "1",
    # In seconds. A busy machine takes longer than the default of 30.
    "HOROVOD_GLOO_TIMEOUT_SECONDS": "300",
}


class Horovod(TorchEngine):
    """Each rank has all parameters and makes the same updates."""

    _optimizer: Any  # Horovod makes a subclass of the optimizer's class

    def __init__(self, model: Trainable, trainer: TrainerConfig, learning_rate: float, ranks: Ranks) -> None:
        self._is_summing = False
        with _raising_peer_lost():
            connect(ranks)
            super().__init__(model, trainer, learning_rate, ranks)
            self._optimizer = hvd.DistributedOptimizer(
                self._optimizer, self._parameters.items(), op=hvd.Sum, groups=groups_of(self._parameters)
            )

    def _wrapped(self, model: Forward) -> Forward:
        share_batch_norm(cast(nn.Module, self.model), self.ranks)
        return model

    def forward(self, batch: Batch, *, last: bool) -> Tensors:
        # The sums start in the last pass: Horovod counts the passes that remain.
        self._optimizer.set_backward_passes_per_step(1 if last else 2)
        self._is_summing = True
        return super().forward(batch, last=last)

    def _backward(self, loss: torch.Tensor) -> None:
        with _raising_peer_lost():
            super()._backward(loss)

    def update(self, rate: float) -> None:
        self._synchronize()
        with self._optimizer.skip_synchronize():
            super().update(rate)

    def _synchronize(self) -> None:
        """Wait for the sums of all gradients."""
        with _raising_peer_lost():
            self._optimizer.synchronize()
        self._is_summing = False

    def discard(self) -> None:
        if self._is_summing:  # sums in flight write into the gradients
            self._synchronize()
        super().discard()

    def finish(self) -> None:
        """Disconnect together: a process that just ends is an error to the others."""
        hvd.shutdown()


def groups_of(parameters: Mapping[str, nn.Parameter]) -> list[list[nn.Parameter]]:
    """The parameters from the last to the first, as the backward pass computes their gradients, in groups."""
    groups: list[list[nn.Parameter]] = []
    free = 0
    for parameter in reversed(list(parameters.values())):
        if free <= 0 or parameter.dtype != groups[-1][-1].dtype:
            groups.append([])
            free = GROUP_BYTES
        groups[-1].append(parameter)
        free -= parameter.nbytes
    return groups


def connect(ranks: Ranks) -> None:
    """Connect this process with the others, unless it is connected. Rank 0 serves the addresses of all ranks."""
    if hvd.is_initialized():
        return
    server = RendezvousServer() if ranks.rank == 0 else None
    own = (address_here(), server.start() if server else 0)
    address, port = ranks.share(own)
    with _set(_environment(ranks, address, port)):
        hvd.init()
    ranks.share(None)
    if server:
        server.stop()
    ranks.before_leave(hvd.shutdown)


@contextmanager
def _set(variables: Mapping[str, str]) -> Iterator[None]:
    """Set the variables for Horovod's start. Those of the launcher are restored."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


def address_here() -> str:
    """The address at which the others reach this process. horovodrun gives the names of machines alone."""
    given = os.environ
    on_one_machine = given.get("HOROVOD_LOCAL_SIZE") == given.get("HOROVOD_SIZE")  # without horovodrun, too
    return given.get("MASTER_ADDR") or ("127.0.0.1" if on_one_machine else given["HOROVOD_HOSTNAME"])


def _environment(ranks: Ranks, address: str, port: int) -> dict[str, str]:
    """Horovod's variables. Each rank is the only one of its host: a hierarchy of hosts would change the last bits."""
    rank, world = str(ranks.rank), str(ranks.world)
    settings = {name: os.environ.get(name, value) for name, value in _SETTINGS.items()}
    interface = os.environ.get("GLOO_SOCKET_IFNAME")
    if interface:
        settings["HOROVOD_GLOO_IFACE"] = interface
    return {
        **settings,
        "HOROVOD_GLOO_RENDEZVOUS_ADDR": address,
        "HOROVOD_GLOO_RENDEZVOUS_PORT": str(port),
        "HOROVOD_HOSTNAME": f"rank-{rank}",
        "HOROVOD_RANK": rank,
        "HOROVOD_SIZE": world,
        "HOROVOD_LOCAL_RANK": "0",
        "HOROVOD_LOCAL_SIZE": "1",
        "HOROVOD_CROSS_RANK": rank,
        "HOROVOD_CROSS_SIZE": world,
    }


@contextmanager
def _raising_peer_lost() -> Iterator[None]:
    """Convert Horovod's error about a lost process into `PeerLost`."""
    try:
        yield
    except HorovodInternalError as error:
        raise PeerLost(str(error).partition("\n")[0]) from error
