from __future__ import annotations

import socket

import pytest

from trainwright_api.backend import BackendTrainer
from trainwright_trainer.backends.cluster import ADDRESS, cluster
from trainwright_trainer.errors import EnvironmentFailure


@pytest.mark.parametrize("alone", [False, True])
def test_a_ray_that_is_not_there_is_told_at_once(monkeypatch: pytest.MonkeyPatch, alone: bool) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        monkeypatch.setenv(ADDRESS, address)
        with (
            pytest.raises(EnvironmentFailure, match=rf"Ray at {address} \({ADDRESS}\) cannot be reached: .*refused"),
            cluster(BackendTrainer(), None, alone=alone),
        ):
            pass
