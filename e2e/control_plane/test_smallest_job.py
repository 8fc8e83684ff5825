"""The program of `helm test` with a real API server: the job of the chart's files, which a simulated kubelet runs."""

from __future__ import annotations

import asyncio
import os
import sys
from dataclasses import replace

import pytest
from testkit.api import Api
from testkit.api.resource import NAMESPACES, TRAINING_JOBS
from testkit.cluster.chart import CHART, ROOT
from testkit.cluster.cluster import Cluster
from testkit.harness import FAST, Operators
from testkit.simulators import Fail, Script, Scripts, Simulators, Succeed

JOB = ROOT / CHART / "files/test/job.yaml"


@pytest.mark.parametrize(
    ("script", "code", "last"), [(Succeed(), 0, "Complete"), (Fail(), 1, "Failed")], ids=["succeeds", "fails"]
)
def test_the_program_of_helm_test_tells_how_the_job_ended(
    cluster: Cluster, script: Script, code: int, last: str
) -> None:
    asyncio.run(_tested(cluster, script, code, last))


async def _tested(cluster: Cluster, script: Script, code: int, last: str) -> None:
    command = [sys.executable, "-m", "trainwright_operator.smallest_job"]
    environment = {**os.environ, "KUBECONFIG": str(cluster.kubeconfig)}
    async with Api(cluster.kubeconfig) as api:
        namespace = await api.make_namespace("tested")
        scripts = Scripts()
        scripts.give(namespace, "trainwright-test", script)
        settings = replace(FAST, namespaces=(namespace,))
        async with Simulators(api, namespace, scripts), Operators(cluster.kubeconfig, settings):
            program = await asyncio.create_subprocess_exec(
                *command, namespace, str(JOB), env=environment, stdout=asyncio.subprocess.PIPE
            )
            said, _ = await program.communicate()
            left = (await api.list(TRAINING_JOBS, namespace)).items
        await api.delete(NAMESPACES, namespace)
    assert program.returncode == code
    assert said.decode().splitlines()[-1].startswith(f"{last}: ")
    assert left == []
