"""The operator's client and reflectors with a real API server."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from datetime import UTC, datetime
from typing import Any

import pytest
from testkit.cluster.cluster import Cluster

from trainwright_operator.informer.reflector import Reflector
from trainwright_operator.informer.store import Store
from trainwright_operator.kube.client import ApiError, Client, Gone
from trainwright_operator.kube.connection import Connection
from trainwright_operator.kube.resources import CONFIG_MAPS, Resource
from trainwright_operator.model.observed import Manifest
from trainwright_operator.settings import Settings

OURS = "trainwright.dev/of-this-test"
SECONDS = 30.0


class Seen:
    """The events and objects that a reflector of ConfigMaps has delivered."""

    def __init__(self, client: Client, *namespaces: str, resource: Resource = CONFIG_MAPS) -> None:
        self.lost: list[str] = []
        self._changed = asyncio.Event()
        self._store: Store[str] = Store(lambda raw: str(raw["data"]["value"]), str, self._tell)
        settings = Settings(namespaces=namespaces, retry_base=0.05, retry_limit=0.5)
        self._places = settings.places
        self.reflector = Reflector(client, resource, self._store, settings, now, selector=OURS)

    def _tell(self, key: tuple[str, str], old: str | None, new: str | None) -> None:  # noqa: ARG002
        if new is None:
            self.lost.append(key[1])
        self._changed.set()

    @property
    def values(self) -> dict[str, str]:
        return {name: value for (_, name), value in self._store.items()}

    async def until(self, values: dict[str, str]) -> None:
        async with asyncio.timeout(SECONDS):
            for place in self._places:
                await self.reflector.wait_until_synced(place)
            while self.values != values:
                self._changed.clear()
                await self._changed.wait()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        task = asyncio.create_task(self.reflector.run())
        try:
            yield
            assert not task.done()
        finally:
            task.cancel()
            with suppress(asyncio.CancelledError):
                await task


def now() -> datetime:
    return datetime.now(UTC)


def run_reflector(
    cluster: Cluster, scenario: Callable[[Client], Awaitable[None]], kind: type[Client] = Client, **more: Any
) -> None:
    async def whole() -> None:
        async with kind(await Connection.open(str(cluster.kubeconfig)), timeout=10.0, **more) as client:
            await scenario(client)

    asyncio.run(whole())


def config_map(name: str, value: str, **metadata: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {OURS: ""}, **metadata},
        "data": {"value": value},
    }


async def created(client: Client, namespace: str, name: str, value: str = "1") -> Manifest:
    return await client.create(CONFIG_MAPS, namespace, config_map(name, value))


def test_more_objects_than_a_page_holds_are_all_seen(cluster: Cluster, namespace: str) -> None:
    asked: Counter[str] = Counter()

    async def scenario(client: Client) -> None:
        names = [f"c-{number}" for number in range(250)]
        await asyncio.gather(*(created(client, namespace, name) for name in names))
        asked.clear()
        seen = Seen(client, namespace)
        async with seen.running():
            await seen.until(dict.fromkeys(names, "1"))
        assert asked["GET"] == 3

    run_reflector(cluster, scenario, on_response=lambda method, *_: asked.update([method]))


def test_what_happens_is_followed(cluster: Cluster, namespace: str) -> None:
    async def scenario(client: Client) -> None:
        await created(client, namespace, "a")
        seen = Seen(client, namespace)
        async with seen.running():
            await seen.until({"a": "1"})
            await created(client, namespace, "b")
            await client.patch(CONFIG_MAPS, namespace, "a", {"data": {"value": "2"}})
            await created(client, "default", f"elsewhere-{namespace}")
            await client.delete(CONFIG_MAPS, "default", f"elsewhere-{namespace}")
            await seen.until({"a": "2", "b": "1"})
            await client.delete(CONFIG_MAPS, namespace, "a")
            await created(client, namespace, "a", "anew")
            await client.patch(CONFIG_MAPS, namespace, "b", {"metadata": {"labels": {OURS: None}}})
            await seen.until({"a": "anew"})

    run_reflector(cluster, scenario)


def test_what_we_wrote_is_there_before_the_watch_brings_it(cluster: Cluster, namespace: str) -> None:
    async def scenario(client: Client) -> None:
        seen = Seen(client, namespace)
        async with seen.running():
            await seen.reflector.wait_until_synced(namespace)
            for number in range(50):
                value = str(number)
                seen.reflector.note(
                    await client.apply(CONFIG_MAPS, namespace, "a", config_map("a", value), field_manager="test")
                )
                assert seen.values == {"a": value}

    run_reflector(cluster, scenario)


class Late(Client):
    """Its first watch starts from a resourceVersion that the API server has compacted."""

    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.gone = 0

    async def watch(self, *arguments: Any, **more: Any) -> AsyncGenerator[dict[str, Any], None]:
        late = {} if self.gone else {"resource_version": "1"}
        if late:
            # A change between the list and the watch.
            await self.delete(CONFIG_MAPS, arguments[1], "a")
            await created(self, arguments[1], "b")
        try:
            async for event in super().watch(*arguments, **{**more, **late}):
                yield event
        except Gone:
            self.gone += 1
            raise


def test_after_a_real_410_nothing_is_missed(cluster: Cluster, namespace: str) -> None:
    async def scenario(client: Client) -> None:
        assert isinstance(client, Late)
        await created(client, namespace, "a")
        seen = Seen(client, namespace)
        async with seen.running():
            await seen.until({"b": "1"})
            assert seen.lost == ["a"]
            await created(client, namespace, "c")
            await seen.until({"b": "1", "c": "1"})
        assert client.gone == 1

    run_reflector(cluster, scenario, Late)


def test_an_api_server_that_was_killed_and_comes_back_is_followed_again(exclusive_cluster_of_module: Cluster) -> None:
    cluster = exclusive_cluster_of_module

    async def scenario(client: Client) -> None:
        await created(client, "default", "a")
        seen = Seen(client)
        async with seen.running():
            await seen.until({"a": "1"})
            before = seen.reflector.last_seen
            await asyncio.to_thread(cluster.stop_api_server, kill=True)
            await asyncio.to_thread(cluster.start_api_server)
            await created(client, "default", "b")
            await seen.until({"a": "1", "b": "1"})
            assert seen.reflector.last_seen > before

    run_reflector(cluster, scenario)


def test_a_resource_that_nobody_installed_is_empty(cluster: Cluster) -> None:
    async def scenario(client: Client) -> None:
        seen = Seen(client, resource=Resource("Nothing", "nothing.dev", "v1", "nothings"))
        async with seen.running():
            await seen.until({})
            assert not seen.reflector.installed

    run_reflector(cluster, scenario)


def test_refusals_are_what_their_names_say(cluster: Cluster, namespace: str) -> None:
    async def refused(request: Awaitable[object]) -> ApiError:
        with pytest.raises(ApiError) as caught:
            await request
        return caught.value

    async def scenario(client: Client) -> None:
        first = await created(client, namespace, "a")
        version = first["metadata"]["resourceVersion"]
        await client.replace(CONFIG_MAPS, namespace, "a", config_map("a", "2", resourceVersion=version))
        stale = config_map("a", "3", resourceVersion=version)
        assert (await refused(client.get(CONFIG_MAPS, namespace, "none"))).not_found
        assert (await refused(created(client, namespace, "a"))).already_exists
        assert (await refused(client.replace(CONFIG_MAPS, namespace, "a", stale))).conflict
        assert (await refused(client.apply(CONFIG_MAPS, namespace, "a", stale, field_manager="test"))).conflict
        assert (await refused(client.delete(CONFIG_MAPS, namespace, "a", uid="another"))).conflict
        assert (await refused(created(client, namespace, "Not A Name"))).invalid
        await client.delete(CONFIG_MAPS, namespace, "a", uid=first["metadata"]["uid"])
        assert (await refused(client.get(CONFIG_MAPS, namespace, "a"))).not_found

    run_reflector(cluster, scenario)
