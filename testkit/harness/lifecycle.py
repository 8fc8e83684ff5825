"""The lifecycle of one job: the scripts of its attempts, the actions of its user, and the expected result."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from testkit.api import Api, Manifest, NotReached, condition, until
from testkit.api.resource import NAMESPACES, TRAINING_JOBS
from testkit.harness.end_state import SECONDS_TO_COLLECT, end_state, orphans
from testkit.harness.jobs import Kind, training_job
from testkit.harness.operators import FAST, Operators
from testkit.harness.writes import Kill, Writes
from testkit.simulators import Script, Scripts, Simulators
from trainwright_operator.settings import Settings

NAME = "flights"
SECONDS_OF_QUIET = 0.4


class Working(Protocol):
    """The operator, in this process or in others. A test may stop and start it."""

    def start(self) -> None: ...

    async def stop(self) -> None: ...

    async def restart(self) -> None: ...

    async def quiet(self, seconds: float) -> None:
        """Wait until nothing is written for `seconds`."""


@dataclass(frozen=True)
class User:
    """The job's owner, with a client that no fault affects."""

    api: Api
    namespace: str
    simulators: Simulators
    working: Working | None = None
    """None if the scenario must not stop the operator."""

    @property
    def operators(self) -> Working:
        """For scenarios that run a while without an operator."""
        assert self.working is not None
        return self.working

    async def change(self, **spec: Any) -> None:
        await self.api.patch(TRAINING_JOBS, NAME, self.namespace, {"spec": spec})

    async def delete(self, policy: str) -> None:
        await self.api.delete(TRAINING_JOBS, NAME, self.namespace, policy=policy)

    async def sees(self, what: str, holds: Callable[[Manifest], object]) -> None:
        """Wait until `holds` is true. Fails if the job is gone."""
        await self._until(lambda job: job is not None and holds(job), what)

    async def sees_true(self, type_: str) -> None:
        await self.sees(f"the condition {type_}", lambda job: condition(job, type_) == "True")

    async def sees_no_job(self) -> None:
        await self._until(lambda job: job is None, "the end")

    async def _until(self, holds: Callable[[Manifest | None], object], what: str) -> None:
        """Wait as long as the garbage collector may need: it removes the pods before a further attempt begins, and ends
        a job that is deleted in the foreground."""
        await until(
            lambda: self.api.find(TRAINING_JOBS, NAME, self.namespace),
            holds,
            seconds=SECONDS_TO_COLLECT,
            what=f"{what} of {self.namespace}/{NAME}",
        )


Scenario = Callable[[User], Awaitable[None]]


@dataclass(frozen=True)
class Lifecycle:
    name: str
    scripts: Sequence[Script]
    scenario: Scenario
    """The actions and waits of the user; it returns when the job has reached its final state."""
    spec: Mapping[str, Any] = field(default_factory=dict)
    settings: Settings = FAST


@dataclass(frozen=True)
class LifecycleResult:
    """The result of a lifecycle."""

    state: Any
    violations: Sequence[str]
    orphans: Sequence[str]
    writes: Writes = field(default_factory=Writes)
    """The writes of an operator in this process."""


async def run_lifecycle(
    kubeconfig: Path,
    lifecycle: Lifecycle,
    kind: Kind,
    kills: Sequence[Kill] = (),
    operator: Path | None = None,
    at_once: int = 1,
) -> LifecycleResult:
    """Run the lifecycle in its own namespace, with an operator for that namespace, until the writes stop.

    `operator` is another kubeconfig for it: a proxy's. `at_once`: the number of operators, each of which believes that
    it leads.
    """
    writes = Writes(kills)

    def operating(namespace: str) -> Operators:
        settings = replace(lifecycle.settings, namespaces=(namespace,))
        return Operators(operator or kubeconfig, settings, writes, at_once)

    try:
        return replace(await run_lifecycle_under(kubeconfig, lifecycle, kind, operating), writes=writes)
    except NotReached as error:
        error.add_note(f"{lifecycle.name} of {kind} with {kills}; writes: {writes.done}")
        raise


async def run_lifecycle_under(
    kubeconfig: Path,
    lifecycle: Lifecycle,
    kind: Kind,
    operating: Callable[[str], AbstractAsyncContextManager[Working]],
) -> LifecycleResult:
    """The same with any operator of a namespace."""
    async with Api(kubeconfig) as api:
        namespace = await api.make_namespace("lifecycle")
        scripts = Scripts()
        scripts.give(namespace, NAME, *lifecycle.scripts)
        async with Simulators(api, namespace, scripts) as simulators, operating(namespace) as operators:
            await api.create(TRAINING_JOBS, training_job(NAME, kind, **lifecycle.spec), namespace)
            await lifecycle.scenario(User(api, namespace, simulators, operators))
            await operators.quiet(SECONDS_OF_QUIET)
            state = await end_state(api, namespace)
            left_behind = await orphans(api, namespace)
        await api.delete(NAMESPACES, namespace)
    return LifecycleResult(state, simulators.record.violations(), left_behind)
