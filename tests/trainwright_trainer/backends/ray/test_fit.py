"""Complete runs on a real Ray on this machine, shared by these tests: a lost worker, a stop, a user's mistake."""

from __future__ import annotations

import json
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from trainwright_trainer.backends.ray import fit
from trainwright_trainer.backends.ray.fit import lost_workers

PROGRAM = [sys.executable, "-m", "trainwright_trainer"]
SECONDS = 240
"""The timeout of a test. It is long because a shared machine may be slow."""
EPOCHS = 25
FEW_EPOCHS = 12
ZERO_3 = {"type": "deepspeed", "zero_optimization": {"stage": 3}}

# A driver in another process needs the token of the cluster.
TOKEN = {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": secrets.token_hex(32)}

# Prints its address, and runs until its standard input is closed.
CLUSTER = """
import os, sys
from trainwright_trainer.backends.ray.environment import settle
settle(os.environ)
import ray
for attempt in range(3):
    try:
        ray.init(address="local", num_cpus=4, include_dashboard=False, log_to_driver=False, object_store_memory=1 << 27)
        break
    except Exception:
        ray.shutdown()
print(ray.get_runtime_context().gcs_address, flush=True)
sys.stdin.read()
"""


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of a Ray with four logical cores."""
    environment = {**os.environ, **TOKEN}
    environment.pop("RAY_ADDRESS", None)
    environment.pop("OMP_NUM_THREADS", None)  # Ray sets it in its workers, to their CPUs
    process = subprocess.Popen(
        [sys.executable, "-c", CLUSTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
    )
    assert process.stdin is not None
    assert process.stdout is not None
    yield process.stdout.readline().strip()
    process.stdin.close()
    process.stdout.close()
    process.wait(SECONDS)


def until(condition: Callable[[], object], process: subprocess.Popen[str]) -> None:
    """Wait until `condition()` is true. Fails if the process ends first."""
    deadline = time.monotonic() + SECONDS
    while not condition():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("a\nThe actor died.\n", "The actor died."),
        ("", "RuntimeError"),
        (
            "It died. 2 worker(s) were killed due to the node running low on memory. More\nRefer to the advice.",
            "2 worker(s) were killed due to the node running low on memory",
        ),
    ],
)
def test_the_line_about_lost_workers_has_the_cause(text: str, reason: str) -> None:
    assert str(lost_workers(RuntimeError(text))) == f"workers were lost, and no retry is left: {reason}"


def test_an_early_end_kills_the_controller_and_waits_for_the_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    killed = threading.Event()
    monkeypatch.setattr(fit, "ray", SimpleNamespace(get=lambda found: found, kill=lambda _: killed.set()))
    mailbox: Any = SimpleNamespace(controller=SimpleNamespace(remote=lambda: "its handle"))
    with closing(fit.Fitting(killed.wait, mailbox)) as fitting:
        assert fitting.goes_on
    assert not fitting.goes_on


class Run:
    """A run with two workers, in its own folder and process."""

    def __init__(self, workplace, address: str) -> None:
        self.folder: Path = workplace.folder
        own = {"RAY_ADDRESS": address, "TRAINWRIGHT_ROW_LOG": str(self.folder / "rows")}
        self._environment = {**os.environ, **TOKEN, **own}

    def start(self, *arguments: str, **environment: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*PROGRAM, *arguments],
            cwd=self.folder,
            env={**self._environment, **environment},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def updates(self) -> list[dict[int, list[int]]]:
        """For each rank, the rows of each step. For a repeated step, the rows of the last time."""
        found = []
        for path in (self.folder / "rows", self.folder / "rows.1"):
            lines = path.read_text().splitlines() if path.exists() else []
            found.append({line["step"]: line["rows"] for line in map(json.loads, lines)})
        return found

    def lines(self) -> int:
        """The lines in the row log of rank 1: its updates, with those that were repeated."""
        path = self.folder / "rows.1"
        return path.read_text().count("\n") if path.exists() else 0

    def metrics(self, folder: str) -> dict:
        return json.loads((self.folder / folder / "metrics.json").read_text())


def losses(metrics: dict) -> list[float]:
    return [part["combined"]["loss"] for one in metrics["rounds"] for part in one["scores"].values()]


def workers(address: str) -> list[int]:
    """The process ids of Ray Train's workers on this cluster."""
    found = []
    for place in Path("/proc").glob("[0-9]*"):
        try:
            command, environment = ((place / name).read_bytes().decode() for name in ("cmdline", "environ"))
        except OSError:
            continue
        if command.startswith("ray::RayTrainWorker") and address in environment + _parents_command(place):
            found.append(int(place.name))
    return sorted(found)


def _parents_command(place: Path) -> str:
    """The command of the node process. It is the parent of the workers and names the cluster."""
    parent = (place / "stat").read_text().rpartition(")")[2].split()[1]
    return Path("/proc", parent, "cmdline").read_text()


def long_job(workplace, strategy="ddp", retries=3, **trainer) -> str:
    """A job of some two hundred updates, with a checkpoint every 0.3 s."""

    def change(job):
        gang = {"num_workers": 2, "strategy": strategy, "max_retries": retries}
        job["backend"] = {"type": "ray", "processor": {"type": "pandas"}, "trainer": gang}
        sizes = {"batch_size": 8, "effective_batch_size": 16, "epochs": EPOCHS, "early_stop": -1}
        job["config"]["trainer"] = {**sizes, "precision": "float64", **trainer}
        spec = {name: job.pop(name) for name in list(job)}
        job.update(
            apiVersion="trainwright.dev/v1alpha1",
            kind="TrainingJob",
            metadata={"name": "job"},
            spec={**spec, "checkpoint": {"everySeconds": 0.3}},
        )

    return workplace.job(change)


@pytest.mark.slow  # two starts of Ray with a search each; tests of the finder and of the gang show the parts
def test_the_ranks_agree_on_batch_size_and_threads(workplace, address):
    """OMP_NUM_THREADS, which Ray sets to two in these workers, does not change the threads."""

    def change(job, epochs):
        shares = {"num_workers": 2, "resources_per_worker": {"CPU": 2}}
        job["backend"] = {"type": "ray", "processor": {"type": "pandas"}, "trainer": shares}
        job["config"]["trainer"] = {"batch_size": "auto", "epochs": epochs}

    found = []
    run = Run(workplace, address)
    for arguments in (["--overwrite"], ["--resume", "--threads", "2"]):
        job = workplace.job(lambda job: change(job, 1 + len(found)))
        process = run.start("train", job, "--output", "ray", *arguments)
        out, err = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, (out, err)
        found.append(json.loads((run.folder / "ray/resolved.json").read_text())["resolved"])
    first, second = found
    assert [one["threads"] for one in found] == [1, 2]
    assert first["batching"] == second["batching"]
    assert first["rows_per_second"] == second["rows_per_second"]
    assert first["batching"]["global_rows"] == 2 * first["batching"]["pass_rows"]
    assert list(first["rows_per_second"]) == [
        "8"
    ]  # a worker's share of 153 rows is 76; the candidates are from an eighth to a fifth of it
    one, other = run.updates()
    assert one.keys() == other.keys()


def test_the_example_of_the_documents_prepares_with_dask(workplace, address):
    """The cache holds the entries of a run on one machine, byte for byte. The stage before training fills it."""
    run = Run(workplace, address)
    job = workplace.job(lambda job: job.update(backend={"type": "ray", "processor": {"type": "dask"}}))
    for arguments, line in ((["preprocess", job], " written"), (["train", job, "--output", "ray"], "cache hit")):
        process = run.start(*arguments)
        out, err = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, (out, err)
        assert line in out
        assert "runs in this process alone" not in out
    cached = entries(run.folder)
    shutil.rmtree(run.folder / ".trainwright_cache")
    workplace.done("train", job, "--backend", "local", "--output", "here")
    assert cached == entries(run.folder)
    assert losses(run.metrics("ray")) == pytest.approx(losses(run.metrics("here")), rel=1e-5)


def entries(folder: Path) -> dict[str, bytes]:
    """The columns and statistics of the cache."""
    cache = folder / ".trainwright_cache"
    return {path.name: path.read_bytes() for kind in ("features", "statistics") for path in (cache / kind).iterdir()}


@pytest.mark.parametrize(
    ("strategy", "precision", "tolerance"),
    [
        ("fsdp", "float64", 1e-8),
        pytest.param("horovod", "float64", 1e-8, marks=pytest.mark.slow),
        pytest.param("ddp", "float64", 1e-8, marks=pytest.mark.slow),  # e2e: DDP on a node
        pytest.param(ZERO_3, "float32", 1e-3, marks=pytest.mark.slow, id="ZeRO 3"),
    ],
)
def test_a_worker_killed_in_mid_training_changes_nothing(workplace, address, strategy, precision, tolerance):
    run, job = Run(workplace, address), long_job(workplace, strategy, precision=precision, epochs=FEW_EPOCHS)
    process = run.start("train", job, "--output", "ray")
    until(lambda: len(run.updates()[1]) > 40, process)
    os.kill(workers(address)[-1], signal.SIGKILL)
    ends_like_one_process(workplace, run, process, job, tolerance, FEW_EPOCHS)


@pytest.mark.slow  # a minute and a half each
@pytest.mark.parametrize(
    ("strategy", "precision", "tolerance"),
    [("ddp", "float64", 1e-8), ("fsdp", "float64", 1e-8), ("horovod", "float64", 1e-8), ("deepspeed", "float32", 0.01)],
)
def test_ten_workers_killed_at_random_change_nothing(workplace, address, strategy, precision, tolerance):
    """Each kill comes up to 20 updates after the first update of the workers of its own start."""
    draw = random.Random(strategy)
    run, job = Run(workplace, address), long_job(workplace, strategy, retries=10, precision=precision)
    process = run.start("train", job, "--output", "ray")
    for _ in range(10):
        lines = run.lines() + 1 + draw.randrange(20)
        until(lambda lines=lines: run.lines() >= lines and len(workers(address)) == 2, process)
        os.kill(draw.choice(workers(address)), signal.SIGKILL)
        until(lambda: len(workers(address)) < 2, process)
    ends_like_one_process(workplace, run, process, job, tolerance)


def ends_like_one_process(workplace, run, process, job, tolerance, number_of_epochs=EPOCHS):
    """The scores are those of backend local, and each epoch has each row once. One attempt is enough."""
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, (out, err)
    workplace.done("train", job, "--backend", "local", "--output", "here")
    found, expected = run.metrics("ray"), run.metrics("here")
    assert losses(found) == pytest.approx(losses(expected), rel=tolerance, abs=tolerance)
    scores = [one["end"]["test"]["late"]["loss"] for one in (found, expected)]
    assert scores[0] == pytest.approx(scores[1], rel=tolerance, abs=tolerance)
    assert [path.name for path in (run.folder / "ray/attempts").iterdir()] == ["1"]
    one, other = run.updates()
    per_epoch = len(one) // number_of_epochs
    epochs = [
        sorted(row for step in range(first, first + per_epoch) for ranks in (one, other) for row in ranks[step])
        for first in range(1, number_of_epochs * per_epoch, per_epoch)
    ]
    assert len(epochs) == number_of_epochs
    assert all(epoch == epochs[0] and len(set(epoch)) == len(epoch) for epoch in epochs)


@pytest.mark.slow  # the laws compare ZeRO 3 with one process
def test_the_documented_section_of_deepspeed(workplace, address):
    """The example of Ludwig's documentation: ZeRO stage 3, offload of the optimizer, bfloat16."""
    offload = {"device": "cpu", "pin_memory": True}
    strategy = {
        "type": "deepspeed",
        "zero_optimization": {"stage": 3, "offload_optimizer": offload},
        "bf16": {"enabled": True},
    }
    run, job = Run(workplace, address), long_job(workplace, strategy, precision="float32", epochs=5)
    process = run.start("train", job, "--output", "ray")
    out, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, (out, err)
    workplace.done("train", job, "--backend", "local", "--output", "here")
    assert losses(run.metrics("ray")) == pytest.approx(losses(run.metrics("here")), rel=0.05, abs=0.05)


def test_a_stopped_run_goes_on_here(workplace, address):
    run, job = Run(workplace, address), long_job(workplace, epochs=60)
    process = run.start("train", job, "--output", "out")
    until(lambda: len(run.updates()[0]) > 20, process)
    process.send_signal(signal.SIGTERM)
    _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 75, err
    assert "stopped by SIGTERM at epoch " in err
    assert "--output out --resume" in err
    step = max(run.updates()[0])
    assert max(run.updates()[1]) == step
    assert (run.folder / f"out/checkpoints/{step:010d}-1/manifest.json").exists()
    assert f"step {step}" in workplace.done("train", job, "--backend", "local", "--output", "out", "--resume").out


def asked(address: str, code: str) -> str:
    """The output of another driver on this cluster."""
    whole = f"import ray; ray.init(log_to_driver=False); {code}"
    environment = {**os.environ, **TOKEN, "RAY_ADDRESS": address}
    command = [sys.executable, "-c", whole]
    return subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True).stdout


def drain(address: str) -> None:
    """Drain the node as `ray start` does on SIGTERM. It takes no more work, so this has to be the last test."""
    code = (
        "import time; from ray.core.generated import autoscaler_pb2 as pb;"
        "from ray._private.worker import global_worker as worker;"
        "node = ray.get_runtime_context().get_node_id();"
        "reason = pb.DrainNodeReason.DRAIN_NODE_REASON_PREEMPTION;"
        "print(worker.gcs_client.drain_node(node, reason, 'SIGTERM', int(time.time() * 1000) + 600_000))"
    )
    assert "True" in asked(address, code)


@pytest.mark.slow
def test_a_pod_leaves_nothing_on_its_ray(workplace, address):
    """An actor that stays keeps the head node busy, and the head pod waits for an idle node before it ends."""
    run, job = Run(workplace, address), long_job(workplace, epochs=1)
    variables = {"ATTEMPT": "1", "STAGE": "train", "UID": "abc", "RUN": str(run.folder / "out")}
    process = run.start("run", job, **{f"TRAINWRIGHT_{name}": value for name, value in variables.items()})
    _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 0, err
    assert asked(address, "print(ray.util.list_named_actors(all_namespaces=True))").strip() == "[]"


@pytest.mark.slow  # this is for another Ray; test_job_data.py has the one of this machine
def test_a_mistake_in_the_data_is_reported_once(workplace, address):
    job = long_job(workplace)
    (workplace.folder / "data.csv").write_text("size,open,kind\n1,yes,a\n")
    process = Run(workplace, address).start("train", job, "--output", "out")
    _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 2
    assert err.strip() == "job.yaml: config.output_features[0].column: 'late' is not in data.csv."
    assert not (workplace.folder / "out").exists()


def test_a_driver_whose_node_is_taken_away_stops_with_a_checkpoint(workplace, address):
    run, job = Run(workplace, address), long_job(workplace, epochs=2000)
    process = run.start("train", job, "--output", "out")
    until(lambda: len(run.updates()[0]) > 20, process)
    drain(address)
    _, err = process.communicate(timeout=SECONDS)
    assert process.returncode == 75, err
    assert "stopped by SIGTERM at epoch " in err
    step = max(run.updates()[0])
    assert (run.folder / f"out/checkpoints/{step:010d}-1/manifest.json").exists()
