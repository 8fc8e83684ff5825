"""Time to refuse a mistake in a spec: by our webhook, and for comparison by the schema alone."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from ruamel.yaml import YAML
from testkit.api import ApiError, Manifest, Resource
from testkit.api.resource import TRAINING_JOBS
from testkit.cluster.port import LOOPBACK, Port
from testkit.harness.jobs import SPEC, training_job

from bench.cluster import program
from bench.cluster.environment import NAMESPACE, Environment, environment
from bench.process import ROOT
from bench.results import Result, result

TIMES = 20
GOAL = "≤ 100"
MANIFEST = ROOT / "operator" / "manifests" / "webhook-local.yaml"
WEBHOOKS = Resource(
    "admissionregistration.k8s.io/v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", False
)


@dataclass(frozen=True)
class Mistake:
    """The wrong part of a spec, and the words of its refusal."""

    spec: Mapping[str, Any]
    expected: str

    @property
    def job(self) -> Manifest:
        kind = {"apiVersion": TRAINING_JOBS.api_version, "kind": TRAINING_JOBS.kind}
        return {**kind, **training_job("mistake", "ray", **self.spec)}


# The schema leaves the content of `config` to the webhook, and checks the task itself.
FOR_US = Mistake({"config": {**SPEC["config"], "input_features": [{"name": "distance", "type": "numbr"}]}}, "number")
FOR_THE_SCHEMA = Mistake({"task": "trian"}, "Unsupported value")
Refusal = Callable[[Mistake], Awaitable[str]]


async def run(times: int = TIMES) -> dict[str, Result]:
    port = Port()
    async with environment() as here:
        await _register(here, port.number)
        settings = {"TRAINWRIGHT_SERVER_PORT": str(port.number)}
        port.close()
        log = here.folder / "operator.log"
        async with program.running(program.OPERATOR, here.as_user("operator"), log, settings) as ours:
            await ours.says(program.LISTED)
            await _trusted(here)
            request, kubectl = lambda one: _request(here, one), lambda one: _kubectl(here, one)
            return {
                **await _compared("request", request, times),
                **await _compared("kubectl apply", kubectl, times),
            }


async def _register(here: Environment, port: int) -> None:
    """Register the webhook as `make operator` does, at our own port, with failurePolicy Fail."""
    webhook = YAML(typ="safe").load(MANIFEST)
    for entry in webhook["webhooks"]:
        entry |= {"failurePolicy": "Fail", "clientConfig": {"url": f"https://{LOOPBACK}:{port}/admission"}}
    await here.api.create(WEBHOOKS, webhook)


async def _trusted(here: Environment) -> None:
    """Wait until the API server has the CA of the webhook."""
    async with asyncio.timeout(program.TIMEOUT_SECONDS):
        while FOR_US.expected not in await _request(here, FOR_US):
            await asyncio.sleep(program.LOOK_SECONDS)


async def _compared(name: str, refusal: Refusal, times: int) -> dict[str, Result]:
    """Measure both in turn. The first request of each does not count: it opens connections and fills caches."""
    ours, baselines = [], []
    for _ in range(times + 1):
        ours.append(await _timed(refusal, FOR_US))
        baselines.append(await _timed(refusal, FOR_THE_SCHEMA))
    added = median(one - other for one, other in zip(ours[1:], baselines[1:], strict=True))
    return {
        f"{name} refused by the webhook": result(1000 * median(ours[1:]), "ms", GOAL),
        f"{name} refused by the schema alone": result(1000 * median(baselines[1:]), "ms"),
        f"{name} refused: what the webhook adds": result(1000 * added, "ms", GOAL),
    }


async def _timed(refusal: Refusal, mistake: Mistake) -> float:
    began = time.perf_counter()
    message = await refusal(mistake)
    seconds = time.perf_counter() - began
    if mistake.expected not in message:
        raise SystemExit(f"not refused by {mistake.expected!r}, but: {message}")
    return seconds


async def _request(here: Environment, mistake: Mistake) -> str:
    try:
        await here.api.create(TRAINING_JOBS, mistake.job, NAMESPACE)
    except ApiError as error:
        return str(error)
    return ""


async def _kubectl(here: Environment, mistake: Mistake) -> str:
    file = Path(here.folder / "mistake.json")
    file.write_text(json.dumps(mistake.job))
    ended = await asyncio.to_thread(here.cluster.kubectl.run, "apply", f"-n={NAMESPACE}", "-f", str(file))
    return ended.stderr
