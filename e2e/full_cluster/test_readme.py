"""The commands of README.md, "On Kubernetes", run unchanged in a shell whose kubectl uses the test's namespace.

What the README shows of their output is compared by its shape: numbers, ids and what is left out (…) may be others.
The data come into the bucket by boto3, for the command line of AWS is not part of this project.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pytest
from testkit.cluster.images.ours import ROOT
from testkit.full_cluster import examples, jobs
from testkit.full_cluster.bucket import Bucket
from testkit.full_cluster.full_cluster import FullCluster
from testkit.full_cluster.objects import until

README = (ROOT / "README.md").read_text()
SHOWN, WHILE_IT_RUNS = re.findall(
    r"^```\n(.*?)^```$", README.partition("\n## On Kubernetes\n")[2].partition("\n## ")[0], re.MULTILINE | re.DOTALL
)[:2]
PROMPT = "$ "
JOB = "flights-ray"
SECONDS = 1500
PASSING = {"", "Pending", "Queued"}
"""Phases that a job has only where there is no room for it at first, or for a moment."""


@pytest.fixture(scope="module")
def flights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The phases of all jobs."""
    file = tmp_path_factory.mktemp("data") / "flights.parquet"
    program = examples.EXAMPLES / "flights" / "make_data.py"
    subprocess.run([sys.executable, program, f"--output={file}"], check=True)
    return file


@pytest.fixture
def shell(operator: FullCluster, namespace: str, tmp_path: Path) -> Mapping[str, str]:
    """The environment of the shell."""
    config = tmp_path / "kubeconfig"
    config.write_text(operator.kubectl.kubeconfig.read_text())
    path = f"{operator.kubectl.program.parent}:{os.environ['PATH']}"
    found = {**os.environ, **operator.kubectl.environment, "KUBECONFIG": str(config), "PATH": path}
    output_of("kubectl config set-context --current --namespace=" + namespace, found)
    return found


def test_the_commands_do_what_is_shown(
    operator: FullCluster,
    namespace: str,
    bucket_of_the_files: Bucket,
    flights: Path,
    shell: Mapping[str, str],
    tmp_path: Path,
) -> None:
    bucket_of_the_files.upload(flights, flights.name)
    jobs.apply(operator.kubectl, namespace, jobs.keys(operator))
    apply, watch, describe, wait, explain = commands()
    assert output_of(apply, shell).splitlines() == shown(apply)
    with in_background(watch, shell, tmp_path / "watch") as seen:
        until(lambda: phase(shell), lambda word: word == "Running", seconds=SECONDS, what="a job that runs")
        while_it_runs(shell, tmp_path)
        output_of(wait.replace("--timeout=1h", f"--timeout={SECONDS}s"), shell)
        until(seen.read_text, lambda text: "Complete" in text, what="the last line of the watch")
        watched = seen.read_text()
    described = output_of(describe, shell)
    print(PROMPT + watch, watched, PROMPT + describe, described[described.index("Events:") :], sep="\n")
    assert watched.splitlines()[0].split() == shown(watch)[0].split()
    assert phases(watched.splitlines()) == phases(shown(watch))
    for line in shown(describe):
        assert any(like(line).fullmatch(found.strip()) for found in described.splitlines()), line
    assert "KIND:       TrainingJob" in output_of(explain, shell)


def while_it_runs(shell: Mapping[str, str], folder: Path) -> None:
    """The log of the job, and the dashboard with its token."""
    child, logs, cluster, token, forward = (line.partition("  #")[0] for line in WHILE_IT_RUNS.splitlines())
    names = f"{child}\n{cluster}\n"
    with in_background(names + logs, shell, folder / "logs") as printed:
        key = output_of(names + token, shell)
        with in_background(names + f"exec {forward}", shell, folder / "forward"):
            until(lambda: dashboard(key), lambda answer: answer == 200, seconds=60, what="an answer of the dashboard")
        until(printed.read_text, lambda text: "epoch 1/10" in text, seconds=SECONDS, what="the first epoch in the log")


def dashboard(token: str) -> int | str:
    """Return the status of the response, or the error."""
    asked = urllib.request.Request("http://localhost:8265/api/version", headers={"Authorization": f"Bearer {token}"})
    try:
        with urllib.request.urlopen(asked, timeout=5) as answer:
            return int(answer.status)
    except OSError as problem:
        return str(problem)


def commands() -> Sequence[str]:
    """The commands that README.md shows, without comments."""
    lines = [line.removeprefix(PROMPT) for line in SHOWN.splitlines() if line.startswith(PROMPT)]
    return [line.partition("  #")[0].rstrip() for line in lines]


def shown(command: str) -> Sequence[str]:
    """The output that README.md shows for a command."""
    after: list[str] = SHOWN[SHOWN.index(PROMPT + command) :].splitlines()[1:]
    end = next((place for place, line in enumerate(after) if line.startswith(PROMPT)), len(after))
    return after[:end]


def phases(lines: Sequence[str]) -> Sequence[str]:
    """The phases in order, without repetitions and without transient phases."""
    start, end = lines[0].index("PHASE"), lines[0].index("PROGRESS")
    words = [line[start:end].strip() for line in lines[1:]]
    return [word for word in dict.fromkeys(words) if word not in PASSING]


def like(line: str) -> re.Pattern[str]:
    """A pattern that accepts other numbers, ids and times, and any text in place of …"""
    text = re.escape(" ".join(line.split())).replace("\\ ", r"\s+").replace("…", ".*")
    text = re.sub(r"[0-9a-f]{8}", "[0-9a-f]{8}", text)
    text = re.sub(r"\\s\+[0-9]+s\\s\+", r"\\s+\\S+\\s+(\\S+\\s+)?", text)
    return re.compile(re.sub(r"0\\\.[0-9]{4}", r"[0-9.]+", text))


def phase(shell: Mapping[str, str]) -> str:
    status = json.loads(output_of(f"kubectl get tj {JOB} -o json", shell)).get("status", {})
    assert status.get("phase") not in ("Failed", "Invalid"), status
    return str(status.get("phase"))


def output_of(script: str, shell: Mapping[str, str]) -> str:
    ended = subprocess.run(["bash", "-ec", script], cwd=ROOT, env=shell, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, f"{script}: {ended.stderr}"
    return ended.stdout


@contextmanager
def in_background(script: str, shell: Mapping[str, str], output: Path) -> Iterator[Path]:
    """Yield the file with its output while it runs."""
    with output.open("w") as file:
        process = subprocess.Popen(["bash", "-ec", script], cwd=ROOT, env=shell, stdout=file, stderr=file)
    try:
        yield output
    finally:
        process.terminate()
        process.wait(timeout=30)
