"""The webhook with a real API server: its messages, the requests that reach it, started jobs, and its certificates."""

from __future__ import annotations

import asyncio
import copy
import json
import statistics
import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any

import aiohttp
import pytest
from testkit.cluster.cluster import Cluster
from testkit.contract.corpus import corpus
from testkit.server.running import Clock, Server, admitting, registered, server, webhook

from trainwright_api.checks.cluster import validate_job
from trainwright_api.checks.validate import inspect, validate_document
from trainwright_api.problems import Mistakes
from trainwright_operator.kube.errors import ApiError
from trainwright_operator.kube.resources import TRAINING_JOBS

JOB: dict[str, Any] = {
    "apiVersion": "trainwright.dev/v1alpha1",
    "kind": "TrainingJob",
    "metadata": {"name": "late"},
    "spec": {
        "dataset": "s3://bucket/flights.parquet",
        "output": "s3://bucket/runs",
        "config": {
            "input_features": [{"name": "size", "type": "number"}],
            "output_features": [{"name": "late", "type": "binary"}],
        },
        "backend": {"type": "local"},
    },
}
UNKNOWN: dict[str, Any] = {
    "config": {**JOB["spec"]["config"], "trainer": {"epoch": 3}},
    "backend": {"type": "ray", "trainer": {"num_worker": 2}},
}
PREFIX = 'admission webhook "trainingjobs.trainwright.dev" denied the request: '


def job(*, called: str = "late", **spec: Any) -> dict[str, Any]:
    made = copy.deepcopy(JOB)
    made["metadata"]["name"] = called
    made["spec"].update(copy.deepcopy(spec))
    return made


class Asked:
    """The namespace's jobs, requested with kubectl while the webhook answers."""

    def __init__(self, cluster: Cluster, namespace: str, running: Server) -> None:
        self._cluster, self.namespace, self.server = cluster, namespace, running

    async def kubectl(self, *arguments: str, stdin: Any = None) -> tuple[int, str]:
        """Return the exit code and all of stderr."""
        text = None if stdin is None else json.dumps(stdin)
        ended = await asyncio.to_thread(self._cluster.kubectl.run, *arguments, f"-n={self.namespace}", stdin=text)
        return ended.returncode, ended.stderr.strip()

    async def apply(self, made: Any, *flags: str) -> str:
        """Return the error output."""
        return (await self.kubectl("apply", "-f", "-", *flags, stdin=made))[1]

    async def refused(self, made: Any, **query: str) -> str:
        """The API server's own message to a client other than kubectl."""
        path = TRAINING_JOBS.path(self.namespace)
        with pytest.raises(ApiError) as error:
            await self.server.client.request("POST", path, query=query, body=made)
        return error.value.message


Scenario = Callable[[Asked], Awaitable[Any]]


@pytest.fixture
def play(cluster: Cluster, namespace: str) -> Callable[[Scenario], Any]:
    """Run a scenario while the webhook validates the namespace's jobs."""

    async def played(scenario: Scenario) -> Any:
        async with admitting(cluster, namespace) as running:
            return await scenario(Asked(cluster, namespace, running))

    return lambda scenario: asyncio.run(played(scenario))


def validated(made: Any) -> str:
    """The output of `trainwright validate` for a file with the name of the job."""
    with pytest.raises(Mistakes) as mistakes:
        validate_document(made, "late.yaml")
    return mistakes.value.render("late")


@pytest.mark.parametrize(
    ("spec", "flags"),
    [
        (UNKNOWN, []),
        (UNKNOWN, ["--server-side"]),
        (UNKNOWN, ["--validate=false"]),
        (UNKNOWN, ["--dry-run=server"]),
        ({"config": {}}, []),
        ({"backend": {"type": "ray", "trainer": {"strategy": "dpp"}}}, []),
    ],
)
def test_kubectl_shows_the_words_of_validate(play: Callable[[Scenario], Any], spec: Any, flags: list[str]) -> None:
    async def scenario(asked: Asked) -> str:
        return await asked.apply(job(**spec), *flags)

    printed = play(scenario)
    assert printed.endswith(PREFIX + validated(job(**spec)))
    assert "Warning" not in printed


NOT_BUILT: dict[str, Any] = {
    "config": {**JOB["spec"]["config"], "preprocessing": {"global_max_sequence_length": 9}},
    "backend": {"type": "ray", "trainer": {"logdir": "logs"}},
}


def test_every_word_of_the_contract_is_judged_as_by_validate(play: Callable[[Scenario], Any]) -> None:
    """A small config for each word, including those that are not built yet."""
    made = [job(config=each["config"], backend=each["backend"]) for _, each in corpus()]

    async def answer(asked: Asked, one: Any) -> str:
        path = TRAINING_JOBS.path(asked.namespace)
        try:
            await asked.server.client.request("POST", path, query={"dryRun": "All"}, body=one)
        except ApiError as error:
            return error.message
        return ""

    async def scenario(asked: Asked) -> list[str]:
        return [await answer(asked, one) for one in made]

    printed = play(scenario)
    for one, line in zip(made, printed, strict=True):
        found = inspect(one, "late.yaml")
        words = Mistakes((*found.mistakes, *found.unbuilt)).render("late") if found.mistakes or found.unbuilt else ""
        assert line == (PREFIX + words if words else "")
    assert 30 < printed.count("") < len(printed) * 3 / 4


def test_a_job_with_its_own_image_is_only_warned(play: Callable[[Scenario], Any]) -> None:
    made = job(**NOT_BUILT, image="mine:2")

    async def scenario(asked: Asked) -> str:
        return await asked.apply(made)

    printed = play(scenario).splitlines()
    assert printed == [f"Warning: {line}" for line in validate_job(made).warnings]
    assert len(printed) == 2


def test_what_another_version_has_started_can_be_suspended(play: Callable[[Scenario], Any]) -> None:
    """The job is stored with its own image, and started; then only the image is removed."""
    made = job(**NOT_BUILT, image="mine:2")
    changed = job(**NOT_BUILT, suspend=True)

    async def scenario(asked: Asked) -> str:
        await _started(asked, made)
        return await asked.apply(changed, "--server-side")

    assert all(line.startswith("Warning: ") for line in play(scenario).splitlines())


def test_a_path_that_pods_do_not_see_is_refused(play: Callable[[Scenario], Any]) -> None:
    async def scenario(asked: Asked) -> str:
        return await asked.apply(job(output="runs"))

    assert play(scenario).endswith(PREFIX + validate_job(job(output="runs")).message)


def test_unknown_keys_from_every_client_reach_the_webhook_unchanged(play: Callable[[Scenario], Any]) -> None:
    async def scenario(asked: Asked) -> list[str]:
        printed = [
            await asked.refused(job(**UNKNOWN), fieldValidation=strict) for strict in ("Ignore", "Warn", "Strict")
        ]
        printed.append(await asked.apply(job(**UNKNOWN)))
        printed.append(await asked.apply(job(**UNKNOWN), "--server-side"))
        return printed

    for printed in play(scenario):
        assert "config.trainer.epoch " in printed
        assert "backend.trainer.num_worker " in printed


def test_a_warning_is_shown_and_the_job_is_there(play: Callable[[Scenario], Any]) -> None:
    secret = job(backend={"type": "local", "cache_credentials": {"key": "x"}})

    async def scenario(asked: Asked) -> tuple[str, str]:
        return await asked.apply(secret), await asked.apply(job(called="other"))

    first, other = play(scenario)
    assert first == f"Warning: {validate_job(secret).warnings[0]}"
    assert other == ""


async def _started(asked: Asked, made: Any) -> None:
    """Apply the job and mark it as started."""
    assert "denied" not in await asked.apply(made, "--server-side")
    status = {"status": {"startTime": "2026-05-01T12:00:00Z", "resolved": {"digest": validate_job(made).digest}}}
    patch = ("--subresource=status", "--type=merge", f"-p={json.dumps(status)}")
    assert await asked.kubectl("patch", "tj", made["metadata"]["name"], *patch) == (0, "")


def test_what_the_rules_of_the_schema_cannot_see_is_fixed_once_it_has_started(
    play: Callable[[Scenario], Any],
) -> None:
    """CEL's equality counts keys that the schema does not declare, such as old spellings, but ignores their values."""

    def with_old(**spelling: Any) -> dict[str, Any]:
        return job(backend={"type": "ray", **spelling})

    async def scenario(asked: Asked) -> list[str]:
        await _started(asked, with_old(engine={"type": "pandas"}))
        suspended = with_old(engine={"type": "pandas"})
        suspended["spec"]["suspend"] = True
        changes = (with_old(data_format="parquet"), suspended, job(dataset="s3://bucket/other.parquet"))
        return [await asked.apply(made, "--server-side") for made in changes]

    changed, suspended, moved = play(scenario)
    fixed = "is fixed once the job has started: delete the job and create it anew, or create another one"
    assert changed.endswith(f"{PREFIX}backend {fixed}")
    assert suspended == f"Warning: {validate_job(with_old(engine={'type': 'pandas'})).warnings[0]}"
    assert f'spec.dataset: Invalid value: "object": dataset {fixed}' in moved


def test_a_stored_job_that_is_not_valid_can_be_labelled_and_deleted_but_not_changed(
    cluster: Cluster, namespace: str
) -> None:
    wrong = job(**UNKNOWN)
    cluster.kubectl("apply", "-f", "-", f"-n={namespace}", stdin=json.dumps(wrong))

    async def scenario() -> list[tuple[int, str]]:
        async with admitting(cluster, namespace) as running:
            asked = Asked(cluster, namespace, running)
            finalizers = '{"metadata": {"finalizers": ["example.org/wait"]}}'
            none = '{"metadata": {"finalizers": null}}'
            return [
                await asked.kubectl("label", "tj", "late", "a=b"),
                await asked.kubectl("patch", "tj", "late", "--type=merge", f"-p={finalizers}"),
                await asked.kubectl("patch", "tj", "late", "--type=merge", '-p={"spec": {"backoffLimit": 1}}'),
                await asked.kubectl("delete", "tj", "late", "--wait=false"),
                await asked.kubectl("patch", "tj", "late", "--type=merge", f"-p={none}"),
            ]

    codes = asyncio.run(scenario())
    assert [code for code, _ in codes] == [0, 0, 1, 0, 0]
    assert codes[2][1].endswith(PREFIX + validated(wrong))


def test_two_servers_share_a_certificate_and_both_judge(cluster: Cluster, namespace: str) -> None:
    async def scenario() -> tuple[str, list[float | None]]:
        async with server(cluster, namespace) as leader, server(cluster, namespace, leading=False) as other:
            assert leader.rotator.bundle == other.rotator.bundle
            async with registered(leader, webhook(namespace, leader.port, other.port)):
                printed = await Asked(cluster, namespace, leader).apply(job())
                answered = {"answer": "allowed"}
                counted = [
                    one.metrics.registry.get_sample_value("trainwright_admissions_total", answered)
                    for one in (leader, other)
                ]
                return printed, counted

    assert asyncio.run(scenario()) == ("", [1.0, 1.0])


def test_nothing_breaks_while_the_certificate_and_its_authority_change(cluster: Cluster, namespace: str) -> None:
    """From a CA that is about to expire to the next one. At every step the webhook refuses a job."""
    life = timedelta(days=90 * 40)
    clock = Clock(timedelta(days=45) - life)

    async def scenario() -> None:
        async with server(cluster, namespace, clock) as running:
            first = running.rotator.bundle
            clock.offset += life * 0.7
            await running.rotator.refresh(leading=True)
            both = running.rotator.bundle
            # Before this point the server's own certificate has expired by the machine's clock.
            clock.offset = -timedelta(days=61)
            await running.rotator.refresh(leading=True)
            async with registered(running, webhook(namespace, running.port)):
                asked = Asked(cluster, namespace, running)
                await _all_refused(asked, 1)
                assert await _trusts(running, first)
                clock.offset = timedelta()
                await running.rotator.refresh(leading=True)
                before = running.rotator.context.session_stats()["accept_good"]
                await _all_refused(asked, 16)
                # The API server has made a handshake with the new certificate, not only reused open connections.
                assert running.rotator.context.session_stats()["accept_good"] > before
                # The new CA signs now: a client that still has only the first bundle does not trust it.
                assert not await _trusts(running, first)
                assert await _trusts(running, both)
            assert running.rotator.bundle == both
            assert both.startswith(first)

    asyncio.run(scenario())


async def _all_refused(asked: Asked, times: int) -> None:
    """The webhook refuses all of them at once, so all but one need a new connection from the API server."""
    printed = await asyncio.gather(*(asked.refused(job(dataset="x")) for _ in range(times)))
    assert [line for line in printed if PREFIX + "late: dataset" not in line] == []


async def _trusts(running: Server, bundle: str) -> bool:
    try:
        async with running.session(bundle) as client, client.get("/readyz") as response:
            return response.status == 200
    except aiohttp.ClientConnectorCertificateError:
        return False


def test_how_long_a_refusal_takes(play: Callable[[Scenario], Any], capsys: pytest.CaptureFixture[str]) -> None:
    async def scenario(asked: Asked) -> list[float]:
        taken = []
        for _ in range(50):
            began = time.perf_counter()
            await asked.refused(job(**UNKNOWN))
            taken.append(time.perf_counter() - began)
        return taken

    taken = play(scenario)
    assert len(taken) == 50
    with capsys.disabled():
        print(f"\na bad spec is refused in {statistics.median(taken) * 1000:.1f} ms at the median")
