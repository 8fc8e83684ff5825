"""The baseline: a minimal async program that sends the operator's requests without any logic.

It uses the same client, handles as many jobs in parallel, and learns of new jobs from one watch. It writes no events,
runs no reflectors, makes no decisions, and waits for no child's status. It may become faster, never slower.

python -m bench.cluster.baseline RECORDING
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bench.cluster.jobs import filled
from trainwright_operator.kube.client import Client
from trainwright_operator.kube.connection import Connection
from trainwright_operator.kube.resources import TRAINING_JOBS
from trainwright_operator.settings import Settings

READY = "ready"

Metadata = dict[str, Any]


async def main(requests: Sequence[str]) -> None:
    async with Client(await Connection.open()) as client, asyncio.TaskGroup() as group:
        jobs: asyncio.Queue[Metadata] = asyncio.Queue()
        for _ in range(Settings().concurrency):
            group.create_task(work(client, requests, jobs))
        version = ""
        async for page in client.list(TRAINING_JOBS):
            version = page.resource_version
        print(READY, flush=True)
        while True:  # the API server ends a watch whose client reads too slowly
            async for event in client.watch(TRAINING_JOBS, resource_version=version, timeout=3600):
                version = event["object"]["metadata"]["resourceVersion"]
                if event["type"] == "ADDED":
                    jobs.put_nowait(event["object"]["metadata"])


async def work(client: Client, requests: Sequence[str], jobs: asyncio.Queue[Metadata]) -> None:
    while True:
        job = await jobs.get()
        version = job["resourceVersion"]
        for request in requests:
            answer = await client.request(**filled(request, job["name"], job["uid"], version))
            if answer["kind"] == TRAINING_JOBS.kind:
                version = answer["metadata"]["resourceVersion"]


if __name__ == "__main__":
    asyncio.run(main(json.loads(Path(sys.argv[1]).read_text())))
