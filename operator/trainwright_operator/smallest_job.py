"""The program of `helm test`: it trains a job on the cluster, reports how that ended, and deletes the job."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from ruamel.yaml import YAML

from trainwright_operator.kube.client import Client
from trainwright_operator.kube.connection import Connection
from trainwright_operator.kube.errors import ApiError
from trainwright_operator.kube.resources import TRAINING_JOBS
from trainwright_operator.model.observed import Manifest
from trainwright_operator.model.reading import mapping, text

LOOKS = 600
"""The maximum number of looks at the job."""
LOOK_SECONDS = 2.0
ENDS = {"Complete": True, "Failed": False, "Invalid": False}

Sleep = Callable[[float], Awaitable[None]]


async def train(client: Client, namespace: str, job: Manifest, sleep: Sleep = asyncio.sleep) -> bool:
    """Train the job, in place of one of its name. Print its phases. Return True if it completes. Raises ApiError."""
    name = job["metadata"]["name"]
    await _delete(client, namespace, name, sleep)
    await client.create(TRAINING_JOBS, namespace, job)
    phase = ""
    for _ in range(LOOKS):
        status = mapping(await client.get(TRAINING_JOBS, namespace, name), "status")
        if text(status.get("phase")) != phase:
            phase = text(status.get("phase"))
            print(f"{phase}: {text(status.get('message'))}".rstrip(": "), flush=True)
        if phase in ENDS:
            break
        await sleep(LOOK_SECONDS)
    else:
        print(f"it has not ended after {LOOKS * LOOK_SECONDS:,.0f} s")
    await _delete(client, namespace, name, sleep)
    return ENDS.get(phase, False)


async def _delete(client: Client, namespace: str, name: str, sleep: Sleep) -> None:
    try:
        await client.delete(TRAINING_JOBS, namespace, name)
        for _ in range(LOOKS):
            await client.get(TRAINING_JOBS, namespace, name)
            await sleep(LOOK_SECONDS)
    except ApiError as error:
        if not error.not_found:
            raise


async def _main(namespace: str, path: Path) -> bool:
    async with Client(await Connection.open()) as client:
        return await train(client, namespace, YAML(typ="safe").load(path.read_text()))


def main(arguments: Sequence[str]) -> int:
    """Return the exit code: 0 if the job in the file completes."""
    namespace, path = arguments
    try:
        return 0 if asyncio.run(_main(namespace, Path(path))) else 1
    except ApiError as error:
        print(f"the API server refuses: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
