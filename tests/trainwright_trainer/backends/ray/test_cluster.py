"""The Ray of a run: the one that RAY_ADDRESS names, the one that `ray start` runs on this machine, or a new one."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.ray_head import SECONDS, free_port, ray_head

from trainwright_api.resource.backend import BackendTrainer
from trainwright_trainer.backends.ray import cluster as module
from trainwright_trainer.backends.ray.cluster import ADDRESS, NEW, cluster
from trainwright_trainer.backends.ray.environment import METRICS
from trainwright_trainer.backends.ray.resources import WorkerResources
from trainwright_trainer.errors import EnvironmentFailure

NEEDS = WorkerResources(1, False, {"CPU": 1.0}, 3)


def quiet(_: str) -> None:
    """Print nothing."""


@pytest.mark.parametrize("alone", [False, True])
def test_a_ray_that_is_not_there_is_reported_at_once(monkeypatch: pytest.MonkeyPatch, alone: bool) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # without `listen`, so connections are refused
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        monkeypatch.setenv(ADDRESS, address)
        with (
            pytest.raises(EnvironmentFailure, match=rf"Ray at {address} \({ADDRESS}\) cannot be reached: .*refused"),
            cluster(BackendTrainer(), None, alone=alone, log=quiet),
        ):
            pass


class TestRecorded:
    """The address that `ray start` records in Ray's folder. Each test has a folder of its own."""

    @pytest.fixture
    def record(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        monkeypatch.setenv("RAY_TMPDIR", str(tmp_path))
        monkeypatch.delenv(ADDRESS, raising=False)
        (tmp_path / "ray").mkdir()
        return tmp_path / "ray/ray_current_cluster"

    @pytest.fixture
    def taken(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """The Ray that was selected. It is neither started nor joined."""
        found: list[str] = []
        monkeypatch.setattr(module, "_start", lambda *_: found.append("new") or NEEDS)
        monkeypatch.setattr(module, "_join", lambda address, _: found.append(address))
        monkeypatch.setattr(module, "_gpus_and_cpus", lambda: (0.0, 2.0))
        return found

    @pytest.fixture
    def listening(self) -> Iterator[str]:
        with socket.create_server(("127.0.0.1", 0)) as server:
            yield f"127.0.0.1:{server.getsockname()[1]}"

    def logged(self) -> list[str]:
        lines: list[str] = []
        with cluster(BackendTrainer(), None, log=lines.append):
            pass
        return lines

    def test_without_a_record_a_new_one_is_started(self, record: Path, taken: list[str]) -> None:
        assert not record.exists()
        assert (self.logged(), taken) == (["starting Ray on this machine"], ["new"])

    def test_one_that_answers_is_joined_and_named(self, record: Path, taken: list[str], listening: str) -> None:
        record.write_text(listening)
        line = (
            f"joining the Ray at {listening}, which `ray start` runs here (RAY_ADDRESS=local starts a new one instead)"
        )
        assert (self.logged(), taken) == ([line], [listening])

    def test_one_that_is_gone_is_reported_and_passed_over(self, record: Path, taken: list[str]) -> None:
        record.write_text(f"127.0.0.1:{free_port()}")
        line, second = self.logged()
        assert second == "starting Ray on this machine"
        assert line.endswith("which `ray start` has recorded, does not answer: a new one is started here")
        assert taken == ["new"]

    @pytest.mark.parametrize(("named", "expected"), [("local", "new"), ("10.0.0.1:1", "10.0.0.1:1")])
    def test_the_environment_says_another(
        self,
        record: Path,
        taken: list[str],
        listening: str,
        monkeypatch: pytest.MonkeyPatch,
        named: str,
        expected: str,
    ) -> None:
        record.write_text(listening)
        monkeypatch.setenv(ADDRESS, named)
        lines = {"new": "starting Ray on this machine", named: f"joining the Ray at {named} (RAY_ADDRESS)"}
        assert (self.logged(), taken) == ([lines[expected]], [expected])


# Prints the address, the cores and the nodes of its Ray, and the number of workers.
DRIVER = """
import os
from trainwright_trainer.backends.ray.environment import settle
settle(os.environ)
import ray
from trainwright_api.resource.backend import BackendTrainer
from trainwright_trainer.backends.ray.cluster import cluster
with cluster(BackendTrainer(), 2, log=lambda line: None) as needs:
    print(ray.get_runtime_context().gcs_address, ray.cluster_resources()["CPU"], len(ray.nodes()), needs.workers)
"""


@pytest.fixture
def started() -> Iterator[dict[str, str]]:
    """The environment of a shell in which `ray start --head` runs, with seven logical cores."""
    with ray_head(free_port(), "--num-cpus=7") as environment:
        yield environment


def test_the_ray_of_this_machine_is_joined_and_no_second_one_is_started(started: dict[str, str]) -> None:
    ended = subprocess.run(
        [sys.executable, "-c", DRIVER], env=started, capture_output=True, text=True, timeout=SECONDS, check=False
    )
    address = Path(started["RAY_TMPDIR"], "ray/ray_current_cluster").read_text()
    assert (ended.returncode, ended.stdout.split()) == (0, [address, "7.0", "1", "2"]), ended.stderr


DASHBOARD = f"""
import subprocess
import sys
import urllib.request

from trainwright_api.resource.backend import BackendTrainer
from trainwright_trainer.backends.ray.cluster import cluster

lines = []
with cluster(BackendTrainer(), 1, log=lines.append):
    print(*lines, sep="\\n")
    token = subprocess.run(
        [sys.executable, "-m", "ray.scripts.scripts", "get-auth-token"], capture_output=True, text=True, check=True
    ).stdout.strip()
    url = next(word for word in lines[-1].split() if word.startswith("http://"))
    page = urllib.request.Request(f"{{url}}/api/version", headers={{"Authorization": f"Bearer {{token}}"}})
    print(urllib.request.urlopen(page, timeout={SECONDS}).status)
"""


def test_a_run_with_metrics_starts_the_dashboard_and_names_its_address(tmp_path: Path) -> None:
    environment = {**os.environ, "HOME": str(tmp_path), ADDRESS: NEW, METRICS: "1"}
    token = tmp_path / ".ray/auth_token"
    token.parent.mkdir()
    token.write_text(secrets.token_hex(32))
    command = [sys.executable, "-c", DASHBOARD]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1] == "200", ended.stdout


CUSTOM = """
import ray

from trainwright_api.resource.backend import BackendTrainer
from trainwright_trainer.backends.ray.cluster import cluster

section = BackendTrainer(resources_per_worker={"slot": 0.5, "memory": 1e6})
with cluster(section, 3, log=print) as needs:
    ray.get(ray.util.placement_group([dict(needs.resources)] * 3).ready(), timeout=60)
    print(ray.cluster_resources()["slot"])
"""


def test_workers_with_memory_and_parts_of_a_custom_resource_fit_on_this_machine() -> None:
    command = [sys.executable, "-c", CUSTOM]
    environment = {**os.environ, ADDRESS: NEW}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.splitlines()[-1] == "2.0", ended.stdout
