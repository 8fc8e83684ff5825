"""Processes that horovodrun has started meet: rank 0 publishes the address of its store on horovodrun's server."""

from __future__ import annotations

import os
import time

from horovod.runner.http.http_client import put_data_into_kvstore, read_data_from_kvstore
from torch._C._distributed_c10d import TCPStore

from trainwright_trainer.backends.launchers import Launch
from trainwright_trainer.errors import EnvironmentFailure

_SCOPE = "trainwright"
_POLL_SECONDS = 0.1


def served(launch: Launch, name: str) -> TCPStore:
    """The store of rank 0, on a free port, published under `name`."""
    store = TCPStore("0.0.0.0", 0, is_master=True, wait_for_workers=False)
    own = "127.0.0.1" if launch.is_on_one_machine else os.environ["HOROVOD_HOSTNAME"]
    put_data_into_kvstore(launch.address, launch.port, _SCOPE, name, (own, store.port))
    return store


def published(launch: Launch, name: str, until: float, seconds: float) -> tuple[str, int]:
    """The address and the port of rank 0's store. Raises `EnvironmentFailure` after `seconds`."""
    while True:
        try:
            found: tuple[str, int] = read_data_from_kvstore(launch.address, launch.port, _SCOPE, name)
            return found
        except RuntimeError as error:
            if time.monotonic() > until:
                raise EnvironmentFailure(f"rank 0 did not join within {seconds:g} s: see its output") from error
            time.sleep(_POLL_SECONDS)
