"""Real Argo CD with the chart and with jobs: sync, health, self-heal, actions. No pod runs: simulators write statuses.

`make argocd` builds Argo CD from Go modules.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator

import pytest
from ruamel.yaml import YAML
from testkit.api import Api, Manifest, Resource, until, until_gone
from testkit.api.resource import CHILDREN, CONFIG_MAPS, NAMESPACES, SERVICES, SHARED_KINDS, TRAINING_JOBS
from testkit.cluster import crds
from testkit.cluster.argocd_processes import ArgoCd
from testkit.cluster.chart import ROOT
from testkit.cluster.cluster import Cluster
from testkit.cluster.control_plane import ControlPlane
from testkit.cluster.errors import ClusterError
from testkit.control_plane.applications import Application
from testkit.control_plane.delivered import CONTROLLERS, DEPLOYMENTS, Delivered, Jobs, delivered
from testkit.control_plane.installed import NAMESPACE
from testkit.harness import KINDS, training_job
from testkit.simulators import Fail, RunForever, StopWhenAsked, Succeed

from trainwright_operator.model import names

pytestmark = pytest.mark.slow

WEBHOOKS = Resource(
    "admissionregistration.k8s.io/v1", "validatingwebhookconfigurations", "ValidatingWebhookConfiguration", False
)
EXAMPLES = sorted((ROOT / "examples" / "kubernetes").glob("*.yaml"))
OPENSHIFT = crds.without_schema(
    "security.openshift.io", "v1", "SecurityContextConstraints", "securitycontextconstraints", scope="Cluster"
)
HARD = """\
apiVersion: trainwright.dev/v1alpha1
kind: TrainingJob
metadata: {name: hard}
spec:
  dataset: s3://data/flights.parquet
  output: s3://runs
  task: train
  seed: 7
  config:
    input_features: [{name: distance, type: number}]
    output_features: [{name: late, type: binary}]
    trainer: {learning_rate: 1e-4, regularization_type: null, gradient_clipping: {}}
  backend: {type: local}
  podTemplate: {resources: {requests: {cpu: 1, memory: 1024Mi}, limits: {cpu: 2000m}}}
  childMetadata: {labels: {}, annotations: {}}
"""
"""Values that a comparison can take for differences: null, empty, other forms of one number or quantity."""
SERVER_SIDE = ("ServerSideApply=true",)
TRACKING = "argocd.argoproj.io/tracking-id"


@pytest.fixture(scope="module")
def operated(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Delivered]:
    """Argo CD has installed the chart. The cluster had no definition of TrainingJobs."""
    with ControlPlane(CONTROLLERS) as plane:
        cluster = Cluster.of(plane)
        cluster.kubectl("delete", "crd", "trainingjobs.trainwright.dev")
        with ArgoCd(cluster) as argocd, delivered(argocd, tmp_path_factory.mktemp("delivered")) as one:
            yield one


def last_sync(status: Manifest) -> Manifest:
    """The state of Argo CD's last operation; empty while the next one begins."""
    found: Manifest = status.get("operationState") or {}
    return found


def test_the_chart_is_healthy_and_nothing_is_applied_twice(operated: Delivered) -> None:
    """The operator has written its certificate's Secret, the Lease, and the CA bundle of the webhook."""

    async def play() -> None:
        async with operated.chart() as chart:
            first = await chart.sees_health("Healthy")
            await until(lambda: bundle(chart.api), bool, what="the CA bundle")
            for on_the_server in (False, False, True):
                status = await chart.compares_again(on_the_server)
                assert (status["sync"]["status"], status["health"]["status"]) == ("Synced", "Healthy")
                assert await chart.differences() == {}
            assert status["operationState"]["startedAt"] == first["operationState"]["startedAt"], "it was synced again"
            namespace = await chart.api.get(NAMESPACES, NAMESPACE)
            assert namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"] == "restricted"

    asyncio.run(play())


def test_the_test_of_helm_is_no_part_of_a_sync(operated: Delivered) -> None:
    async def play() -> None:
        async with operated.chart() as chart:
            assert await chart.api.find(CONFIG_MAPS, "trainwright-test", NAMESPACE) is None

    asyncio.run(play())


def test_openshift_is_seen(operated: Delivered) -> None:
    """Argo CD tells helm the APIs of the cluster. A definition stands for OpenShift's."""
    kubectl = operated.argocd.cluster.kubectl

    async def play() -> None:
        async with operated.chart() as chart:
            await until(lambda: user_of(chart.api), lambda user: user == 1000, what="a user")
            kubectl("create", "-f=-", stdin=json.dumps(OPENSHIFT))
            try:
                await until(lambda: user_after(chart), lambda user: user is None, what="no user")
            finally:
                kubectl("delete", "crd", OPENSHIFT["metadata"]["name"])
            await until(lambda: user_after(chart), lambda user: user == 1000, what="the user again")
            await chart.sees("a sync", lambda status: status["sync"]["status"] == "Synced")

    asyncio.run(play())


def test_a_change_by_hand_is_healed_and_the_ca_bundle_stays(operated: Delivered) -> None:
    async def play() -> None:
        async with operated.chart() as chart:
            api, before = chart.api, await bundle(chart.api)
            await api.patch(DEPLOYMENTS, "trainwright-operator", NAMESPACE, {"spec": {"minReadySeconds": 7}})
            await api.delete(SERVICES, "trainwright", NAMESPACE)
            await api.patch(WEBHOOKS, "trainwright", None, {"metadata": {"labels": {"app.kubernetes.io/name": "x"}}})
            await chart.sees("a difference", lambda status: status["sync"]["status"] == "OutOfSync")
            await chart.sees_health("Healthy")
            assert await api.find(SERVICES, "trainwright", NAMESPACE) is not None
            assert await bundle(api) == before

    asyncio.run(play())


@pytest.mark.parametrize("options", [(), SERVER_SIDE], ids=["client-side", "server-side"])
def test_jobs_of_every_kind_become_healthy(operated: Delivered, options: tuple[str, ...]) -> None:
    async def play() -> None:
        async with operated.team() as own:
            for kind in KINDS:
                own.scripted(kind, RunForever())
            own.commits(*(training_job(kind, kind) for kind in KINDS))
            jobs = await own.follows(*options)
            for kind in KINDS:
                await own.sees_phase(kind, "Running")
            await jobs.sees_health("Progressing")
            for kind in KINDS:
                await own.ends(kind, Succeed())
            await jobs.sees_health("Healthy")

    asyncio.run(play())


@pytest.mark.parametrize("options", [(), SERVER_SIDE], ids=["client-side", "server-side"])
def test_self_heal_does_nothing_to_running_jobs(operated: Delivered, options: tuple[str, ...]) -> None:
    """The files are those of the examples, as a user writes them. Defaults and the status are no differences."""

    async def play() -> None:
        async with operated.team() as own:
            texts = {file.name: file.read_text() for file in EXAMPLES}
            texts["hard.yaml"] = HARD
            every = [YAML(typ="safe").load(text)["metadata"]["name"] for text in texts.values()]
            for name in every:
                own.scripted(name, RunForever())
            own.commits_text(texts)
            jobs = await own.follows(*options)
            for name in every:
                await own.sees_phase(name)
            for name in ("flights-local", "flights-ray", "hard"):
                await own.sees_phase(name, "Running")
            await jobs.sees("a sync", lambda status: last_sync(status).get("phase") == "Succeeded")
            before = jobs.writes("trainingjobs", own.namespace)
            for on_the_server in (False, False, bool(options)):
                status = await jobs.compares_again(on_the_server)
                assert (status["sync"]["status"], await jobs.differences()) == ("Synced", {})
            trainer = (await own.job("hard"))["spec"]["config"]["trainer"]
            assert ("regularization_type" in trainer) == bool(options), "client-side apply drops a null"
            assert jobs.writes("trainingjobs", own.namespace) == before
            assert {(await own.job(name))["metadata"]["generation"] for name in every} == {1}
            assert [one for one in await owned(own) if TRACKING in one["metadata"].get("annotations", {})] == []

    asyncio.run(play())


def test_a_failed_job_is_degraded(operated: Delivered) -> None:
    async def play() -> None:
        async with operated.team() as own:
            own.scripted("flights", Fail(exit_code=2, message="config.trainer: no such column"))
            own.commits(training_job("flights"))
            jobs = await own.follows()
            await jobs.sees_health("Degraded")
            assert (await jobs.health_of("TrainingJob", "flights"))["message"] == "config.trainer: no such column"

    asyncio.run(play())


def test_a_sync_wave_waits_for_the_job_before(operated: Delivered) -> None:
    async def play() -> None:
        async with operated.team() as own:
            own.scripted("first", RunForever())
            second = training_job("second")
            second["metadata"]["annotations"] = {"argocd.argoproj.io/sync-wave": "1"}
            own.commits(training_job("first"), second)
            jobs = await own.follows()
            await own.sees_phase("first", "Running")
            waits = await jobs.compares_again()
            assert (waits["operationState"]["phase"], await names_of(own)) == ("Running", {"first"})
            await own.ends("first", Succeed())
            await jobs.sees_health("Healthy")
            assert await names_of(own) == {"first", "second"}

    asyncio.run(play())


def test_a_job_that_leaves_git_is_pruned_with_its_children(operated: Delivered) -> None:
    async def play() -> None:
        async with operated.team() as own:
            for name in ("kept", "gone"):
                own.scripted(name, RunForever())
            own.commits(training_job("kept"), training_job("gone", "ray"))
            jobs = await own.follows()
            await own.sees_phase("gone", "Running")
            await own.sees_phase("kept", "Running")
            own.commits_text({"gone.yaml": None})
            await jobs.compares_again()
            await until_gone(own.api, TRAINING_JOBS, "gone", own.namespace)
            await until(
                lambda: owned(own),
                lambda found: {one["metadata"]["labels"][names.JOB_NAME] for one in found} == {"kept"},
                what="clean-up",
            )

    asyncio.run(play())


def test_a_change_that_a_started_job_refuses_is_told_and_the_job_goes_on(operated: Delivered) -> None:
    async def play() -> None:
        async with operated.team() as own:
            own.scripted("flights", RunForever())
            own.commits(training_job("flights"))
            jobs = await own.follows()
            await own.sees_phase("flights", "Running")
            own.commits(training_job("flights", seed=7))
            await jobs.compares_again()
            reason = "fixed once the job has started"
            await jobs.sees("the reason", lambda status: reason in last_sync(status).get("message", ""))
            job = await own.sees_phase("flights", "Running")
            assert (job["metadata"]["generation"], "seed" in job["spec"]) == (1, False)

    asyncio.run(play())


@pytest.mark.parametrize("options", [(), SERVER_SIDE], ids=["client-side", "server-side"])
def test_actions_act_and_self_heal_leaves_what_git_does_not_say(operated: Delivered, options: tuple[str, ...]) -> None:
    async def play() -> None:
        async with operated.team() as own:
            own.scripted("flights", StopWhenAsked(), RunForever())
            own.commits(training_job("flights"))
            jobs = await own.follows(*options)
            await own.sees_phase("flights", "Running")
            await jobs.sees_health("Progressing")
            assert await jobs.actions(own.namespace, "flights") == {"suspend", "terminate"}

            await jobs.act(own.namespace, "flights", "suspend")
            await own.sees_phase("flights", "Suspended")
            await jobs.sees_health("Suspended")
            await jobs.compares_again()
            assert (await own.job("flights"))["spec"]["suspend"] is True
            assert await jobs.actions(own.namespace, "flights") == {"resume"}

            await jobs.act(own.namespace, "flights", "resume")
            await own.sees_phase("flights", "Running")
            await jobs.act(own.namespace, "flights", "terminate")
            ended = await own.sees_phase("flights", "Failed")
            assert "DeadlineExceeded" in {one["reason"] for one in ended["status"]["conditions"]}
            await jobs.sees_health("Degraded")
            assert await jobs.actions(own.namespace, "flights") == {"rerun"}

    asyncio.run(play())


def test_self_heal_takes_back_what_git_says(operated: Delivered) -> None:
    """A file with `suspend: false` in it: the action lasts until the next comparison."""

    async def play() -> None:
        async with operated.team() as own:
            own.scripted("flights", StopWhenAsked(), RunForever())
            own.commits(training_job("flights", suspend=False))
            jobs = await own.follows()
            await own.sees_phase("flights", "Running")
            await jobs.act(own.namespace, "flights", "suspend")
            await until(
                lambda: own.job("flights"),
                lambda job: job["metadata"]["generation"] >= 3 and not job["spec"]["suspend"],
                what="the change of self-heal",
            )
            await own.sees_phase("flights", "Running")

    asyncio.run(play())


def test_a_rerun_is_a_new_job_that_is_never_pruned(operated: Delivered) -> None:
    """Argo CD's own role may not create jobs; the role beside the settings allows it."""

    async def play() -> None:
        async with operated.team() as own:
            own.commits(training_job("flights"))
            jobs = await own.follows()
            await jobs.sees_health("Healthy")
            with pytest.raises(ClusterError, match="cannot create resource"):
                await jobs.act(own.namespace, "flights", "rerun")
            operated.argocd.cluster.kubectl("apply", f"-f={ROOT}/helm/argocd/rerun-role.yaml")
            await until(lambda: ran_again(own, jobs), bool, what="a rerun")
            [name] = [name for name in await names_of(own) if name != "flights"]
            await own.sees_phase(name, "Complete")
            status = await jobs.compares_again()
            assert status["sync"]["status"] == "Synced"
            assert await own.api.find(TRAINING_JOBS, name, own.namespace) is not None

    asyncio.run(play())


async def bundle(api: Api) -> str:
    """The CA that the operator has written into the webhook."""
    [entry] = (await api.get(WEBHOOKS, "trainwright"))["webhooks"]
    return str(entry["clientConfig"].get("caBundle", ""))


async def user_of(api: Api) -> int | None:
    """The user of the operator's pods."""
    pod = (await api.get(DEPLOYMENTS, "trainwright-operator", NAMESPACE))["spec"]["template"]["spec"]
    found: int | None = pod["securityContext"].get("runAsUser")
    return found


async def user_after(chart: Application) -> int | None:
    """The same, after a comparison and the sync that it may begin."""
    await chart.compares_again()
    return await user_of(chart.api)


async def owned(own: Jobs) -> list[Manifest]:
    """All objects that the operator has made for the jobs of a namespace."""
    lists = [await own.api.list(one, own.namespace, names.JOB_UID) for one in (*CHILDREN, *SHARED_KINDS)]
    return [one for each in lists for one in each.items]


async def names_of(own: Jobs) -> set[str]:
    return {one["metadata"]["name"] for one in (await own.api.list(TRAINING_JOBS, own.namespace)).items}


async def ran_again(own: Jobs, jobs: Application) -> bool:
    """False while Argo CD's API server does not have the permission yet."""
    try:
        await jobs.act(own.namespace, "flights", "rerun")
    except ClusterError:
        return False
    return True
