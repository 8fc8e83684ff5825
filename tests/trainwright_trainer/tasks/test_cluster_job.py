"""Commands for a job of a cluster, with a script as kubectl. The e2e test has a real one."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.tasks import cluster_job

JOB = {"metadata": {"uid": "u1"}, "status": {"attempt": 2}}


@pytest.fixture
def kubectl(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A kubectl that writes down how it was called, returns the job, and has two pods with a line each."""
    (tmp_path / "job.json").write_text(json.dumps(JOB))
    script = tmp_path / "kubectl"
    script.write_text(
        "#!/bin/sh\n"
        f'echo "$@" >> {tmp_path}/calls\n'
        'case "$1 $2" in\n'
        '"get pods") echo pod/a; echo pod/b;;\n'
        f'"get "*) cat {tmp_path}/job.json;;\n'
        '"logs "*) echo "[a] one"; echo "[b] two";;\n'
        "esac\n"
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def calls(kubectl: Path) -> list[str]:
    return (kubectl / "calls").read_text().splitlines()


@pytest.mark.parametrize("follow", [False, True])
def test_the_log_is_that_of_the_newest_attempt(kubectl: Path, capfd: Any, follow: bool) -> None:
    assert cluster_job.logs(cluster_job.find("tj/flights", "team"), follow=follow) == ""
    assert capfd.readouterr().out == "[a] one\n[b] two\n"
    selector = "--selector=trainwright.dev/job-uid=u1,trainwright.dev/attempt=2"
    shown = calls(kubectl)[-1]
    assert shown.startswith(f"logs --namespace=team {selector} --all-containers --tail=-1")
    assert ("--prefix" in shown, "--follow" in shown) == (True, follow)


def test_every_name_of_the_resource_is_known(kubectl: Path) -> None:
    for kind in ("tj", "TrainingJob", "trainingjobs", "trainingjobs.trainwright.dev"):
        assert cluster_job.find(f"{kind}/flights", None).name == "flights"
    assert set(calls(kubectl)) == {"get trainingjobs.trainwright.dev flights --output=json"}


def test_a_run_of_this_machine_is_told_from_a_job(tmp_path: Path) -> None:
    page = tmp_path / "report.html"
    page.touch()
    with pytest.raises(Mistakes, match=f"this is a run of this machine, and its report is {page}"):
        cluster_job.find(str(tmp_path), None)


def test_a_name_that_is_too_long_is_no_job() -> None:
    with pytest.raises(Mistakes, match="expected the name of a TrainingJob, as in tj/flights"):
        cluster_job.find(f"{300 * 'a'}/", None)


@pytest.mark.parametrize(("phase", "words"), [("Running", "writes a checkpoint and stops"), ("Queued", "is suspended")])
def test_only_a_job_that_runs_is_said_to_write_a_checkpoint(kubectl: Path, phase: str, words: str) -> None:
    (kubectl / "job.json").write_text(json.dumps({**JOB, "status": {"phase": phase}}))
    line = cluster_job.suspend(cluster_job.find("tj/flights", None), wanted=True)
    assert line == f"tj/flights {words}; trainwright resume tj/flights lets it go on"


@pytest.mark.parametrize("namespace", ["Team", "-n", "a b", ""])
def test_a_namespace_is_no_flag(kubectl: Path, namespace: str) -> None:
    with pytest.raises(Mistakes, match="expected the name of a namespace"):
        cluster_job.find("tj/flights", namespace)
    assert not (kubectl / "calls").exists()


def test_without_kubectl_there_is_one_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EnvironmentFailure, match=r"^kubectl cannot be run, which finds the cluster: No such file"):
        cluster_job.find("tj/flights", None)


def test_what_kubectl_says_last_is_the_line(kubectl: Path) -> None:
    (kubectl / "kubectl").write_text("#!/bin/sh\necho 'a note' >&2\necho 'the server refused' >&2\nexit 1\n")
    with pytest.raises(EnvironmentFailure, match=r"^kubectl get: the server refused$"):
        cluster_job.find("tj/flights", None)


def without_pods(kubectl: Path, **status: Any) -> cluster_job.ClusterJob:
    (kubectl / "job.json").write_text(json.dumps({**JOB, "status": {"attempt": 2, **status}}))
    script = (kubectl / "kubectl").read_text()
    (kubectl / "kubectl").write_text(script.replace("echo pod/a; echo pod/b", "true"))
    return cluster_job.find("tj/flights", "team")


def test_once_its_pods_are_gone_the_run_folder_has_the_logs(kubectl: Path, tmp_path: Path) -> None:
    kept = tmp_path / "run" / "logs" / "attempt-2"
    kept.mkdir(parents=True)
    (kept / "train-0.log").write_text("epoch 1\n")
    job = without_pods(kubectl, output=str(tmp_path / "run"))
    assert cluster_job.logs(job, follow=False) == "epoch 1\n"
    (kept / "train-1.log").write_text("the other rank\n")
    several = "==> train-0.log <==\nepoch 1\n\n==> train-1.log <==\nthe other rank\n"
    assert cluster_job.logs(job, follow=True) == several


@pytest.mark.parametrize(
    ("status", "why"),
    [
        ({}, "the run folder keeps no log of it"),
        ({"output": "ftp://runs"}, "status.output: .*ftp"),
    ],
)
def test_logs_that_cannot_be_read_leave_the_end_in_the_status(kubectl: Path, status: dict[str, str], why: str) -> None:
    shown = cluster_job.logs(without_pods(kubectl, logTail="killed", **status), follow=False)
    assert re.fullmatch(f"attempt 2 has no pods any more, and {why}.*; this is the end of its log:\nkilled\n", shown)
