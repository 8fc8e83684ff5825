"""The process that validates jobs: real processes, with limits of time, number and memory."""

from __future__ import annotations

import asyncio
import io
import json
import os
import signal
import struct
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import pytest

from trainwright_operator.job_defaults import JobDefaults
from trainwright_operator.policy import Policy
from trainwright_operator.server import admission, admission_worker
from trainwright_operator.server.admission import Busy, answer
from trainwright_operator.server.admission_worker import AdmissionWorker
from trainwright_operator.settings import Settings

SHARED = {"volumes": [{"name": "data", "nfs": {}}], "volumeMounts": [{"name": "data", "mountPath": "/data"}]}
SETTINGS = Settings(
    image="mine:1",
    cpu_image="small:1",
    policy=Policy(inline_keys=True, volumes=("emptyDir",)),
    jobs=JobDefaults(SHARED, ttl_seconds_after_finished=60),
)
RULES = json.dumps(
    {
        "image": "mine:1",
        "cpu_image": "",
        "policy": {"volumes": ["emptyDir"]},
        "pod_template": {},
        "ttl_seconds_after_finished": None,
    }
).encode()


def frame(content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + content


def review(**spec: Any) -> bytes:
    kind = {"kind": "TrainingJob"}
    job = {"apiVersion": "trainwright.dev/v1alpha1", **kind, "metadata": {"name": "late"}, "spec": spec}
    request = {"uid": "q1", "kind": kind, "operation": "CREATE", "name": "late", "object": job}
    return json.dumps({"apiVersion": "admission.k8s.io/v1", "request": request}).encode()


def working(conversation: Callable[[AdmissionWorker], Awaitable[None]], seconds: float = 120.0) -> None:
    async def scenario() -> None:
        async with AdmissionWorker(SETTINGS, seconds=seconds) as worker:
            await conversation(worker)

    asyncio.run(scenario())


def test_it_answers_as_the_functions_do_and_after_its_end_another_one_answers() -> None:
    async def conversation(worker: AdmissionWorker) -> None:
        volumes = [{"name": "a", "secret": {}}]
        deleted = review(**admission._ANY_JOB["spec"], ttlPolicy="DeleteJob")
        shared = review(**{**admission._ANY_JOB["spec"], "output": "/data/runs"})
        for body in (review(dataset=1), b"no review", review(podTemplate={"volumes": volumes}), deleted, shared):
            assert await worker.answer(body) == answer(body, SETTINGS)
        assert (await worker.answer(shared)).allowed
        assert "ttlPolicy" not in (await worker.answer(deleted)).body
        first = worker._process
        assert first is not None
        os.kill(first.pid, signal.SIGKILL)
        await first.wait()
        assert (await worker.answer(review(dataset=1))).status == 200
        assert worker._process is not first

    working(conversation)


def test_what_takes_too_long_is_given_up_with_its_process() -> None:
    async def conversation(worker: AdmissionWorker) -> None:
        process, ready = worker._process, worker._ready
        assert process is not None
        assert ready is not None
        await ready
        os.kill(process.pid, signal.SIGSTOP)
        with pytest.raises(Busy, match=r"^the validation took longer than 0.2 s$"):
            await worker.answer(review())
        assert process.returncode == -signal.SIGKILL
        assert worker._process is None

    working(conversation, seconds=0.2)


def test_a_process_that_starts_slowly_gets_the_time_that_it_needs() -> None:
    """As in a pod with a low limit of CPU. Given up with the first review, no process would ever answer."""

    async def conversation(worker: AdmissionWorker) -> None:
        for _ in range(60):
            with suppress(Busy):
                assert (await worker.answer(review(dataset=1))).status == 200
                return
        raise AssertionError("no review was answered")

    working(conversation, seconds=0.25)


def test_no_more_than_a_bound_wait() -> None:
    async def conversation(worker: AdmissionWorker) -> None:
        await worker._turn.acquire()
        waiting = [asyncio.create_task(worker.answer(review())) for _ in range(admission_worker.WAITING)]
        await asyncio.sleep(0)
        with pytest.raises(Busy, match="too many"):
            await worker.answer(review())
        worker._turn.release()
        assert {one.status for one in await asyncio.gather(*waiting)} == {200}

    working(conversation)


def test_a_process_that_dies_of_a_review_is_reported() -> None:
    async def conversation(worker: AdmissionWorker) -> None:
        process = worker._process
        assert process is not None
        process.kill()
        with pytest.raises(Busy, match="too much memory"):
            await worker.answer(b"x" * 2**20)

    working(conversation)


def test_the_child_ends_when_its_parent_closes_the_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    limits: list[tuple[int, int]] = []
    monkeypatch.setattr(admission_worker.resource, "setrlimit", lambda _, limit: limits.append(limit))
    target = io.BytesIO()
    admission_worker.main(io.BytesIO(frame(RULES) + frame(review(dataset=1))), target)
    assert limits == [(admission_worker.MEMORY_BYTES, admission_worker.MEMORY_BYTES)]
    assert json.loads(target.getvalue()[8:])["allowed"] is False


@pytest.mark.parametrize("sent", [b"", frame(RULES)], ids=["before the rules", "before it is ready"])
def test_the_child_ends_in_silence_if_its_parent_has_ended(sent: bytes) -> None:
    """As a leader that loses the Lease at its start. A traceback would be between the JSON lines of the log."""
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", admission_worker.__name__]
    ended = subprocess.run(command, input=sent, stdout=write, stderr=subprocess.PIPE, check=False)
    os.close(write)
    assert (ended.returncode, ended.stderr) == (0, b"")
