from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from trainwright_operator.kube.client import RESTARTS, ApiError, Client, Gone, Unreachable
from trainwright_operator.kube.resources import CONFIG_MAPS, PODS, TRAINING_JOBS

from ..api_server import (
    ApiServer,
    Part,
    answer,
    api_server,
    bookmark,
    client_of,
    config_map,
    cut,
    event,
    hang,
    page,
    refusal,
    reset,
    status_object,
    stream,
)

Scenario = Callable[[ApiServer, Client], Awaitable[None]]


def run_scenario(scenario: Scenario, **arguments: Any) -> None:
    async def whole() -> None:
        async with api_server() as server, client_of(server, **arguments) as client:
            await scenario(server, client)

    asyncio.run(whole())


async def names(client: Client, **arguments: Any) -> list[list[str]]:
    pages: list[list[str]] = []
    async for part in client.list(CONFIG_MAPS, "team", **arguments):
        if part.first:
            pages.clear()
        pages.append([item["metadata"]["name"] for item in part.items])
    return pages


async def watched(client: Client, found: list[dict[str, Any]] | None = None, **arguments: Any) -> list[dict[str, Any]]:
    found = [] if found is None else found
    async for one in client.watch(CONFIG_MAPS, "team", resource_version="7", **arguments):
        found.append(one)
    return found


def test_a_get_brings_the_object() -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        server.answers = [answer(config_map("a", 3))]
        assert await client.get(CONFIG_MAPS, "team", "a") == config_map("a", 3)
        assert server.requests[0].path == "/api/v1/namespaces/team/configmaps/a"
        assert server.requests[0].headers["Accept-Encoding"] == "identity"

    run_scenario(scenario)


def test_writes_are_sent_as_the_api_server_wants_them() -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        server.answers = [answer({})] * 7
        await client.create(PODS, "team", {"kind": "Pod"})
        await client.replace(PODS, "team", "a", {"kind": "Pod"})
        await client.patch(PODS, "team", "a", {"spec": {}})
        status = {"metadata": {"resourceVersion": "7"}, "status": {}}
        await client.apply(TRAINING_JOBS, "team", "a", status, field_manager="trainwright", subresource="status")
        await client.remove(TRAINING_JOBS, "team", "a", ["/status/phase"], resource_version="7", subresource="status")
        await client.delete(PODS, "team", "a", uid="u1")
        await client.delete(PODS, "team", "a", propagation="Foreground")
        assert [(request.method, request.path_qs, request.content_type) for request in server.requests] == [
            ("POST", "/api/v1/namespaces/team/pods", "application/json"),
            ("PUT", "/api/v1/namespaces/team/pods/a", "application/json"),
            ("PATCH", "/api/v1/namespaces/team/pods/a", "application/merge-patch+json"),
            (
                "PATCH",
                "/apis/trainwright.dev/v1alpha1/namespaces/team/trainingjobs/a/status"
                "?fieldManager=trainwright&force=true",
                "application/apply-patch+yaml",
            ),
            (
                "PATCH",
                "/apis/trainwright.dev/v1alpha1/namespaces/team/trainingjobs/a/status",
                "application/json-patch+json",
            ),
            ("DELETE", "/api/v1/namespaces/team/pods/a", "application/json"),
            ("DELETE", "/api/v1/namespaces/team/pods/a", "application/json"),
        ]
        options = {"kind": "DeleteOptions", "apiVersion": "v1"}
        assert server.bodies == [
            {"kind": "Pod"},
            {"kind": "Pod"},
            {"spec": {}},
            {"apiVersion": "trainwright.dev/v1alpha1", "kind": "TrainingJob", **status},
            [
                {"op": "replace", "path": "/metadata/resourceVersion", "value": "7"},
                {"op": "remove", "path": "/status/phase"},
            ],
            {**options, "propagationPolicy": "Background", "preconditions": {"uid": "u1"}},
            {**options, "propagationPolicy": "Foreground"},
        ]

    run_scenario(scenario)


def test_a_refusal_says_why() -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        server.answers = [answer(status_object(429, "TooManyRequests", "slow down"), 429, Retry_After="3")]
        with pytest.raises(ApiError, match="429 TooManyRequests: slow down") as caught:
            await client.get(CONFIG_MAPS, "team", "a")
        assert (caught.value.too_many, caught.value.retry_after) == (True, 3.0)

    run_scenario(scenario)


@pytest.mark.parametrize(
    "fault",
    [hang, reset, cut(b'{"kind":'), answer(b'{"kind":'), answer(b"[]"), answer(b"<html>")],
    ids=["hang", "reset", "cut", "half", "list", "html"],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PATCH", "PUT", "DELETE"])
def test_no_readable_answer_is_unreachable_and_nothing_is_tried_again(fault: Any, method: str) -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        server.answers = [answer({}), fault]
        await client.request("GET", "/version")
        with pytest.raises(Unreachable):
            await client.request(method, "/api/v1/namespaces/team/configmaps", timeout=1.0 if fault is hang else None)
        assert len(server.requests) == 2

    run_scenario(scenario)


def test_a_server_that_is_not_there_is_unreachable() -> None:
    async def scenario(server: ApiServer, client: Client) -> None:  # noqa: ARG001
        async with client_of(ApiServer()) as other:
            with pytest.raises(Unreachable):
                await other.get(CONFIG_MAPS, "team", "a")

    run_scenario(scenario)


def test_an_empty_answer_is_an_empty_object() -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        server.answers = [answer(b"")]
        assert await client.request("GET", "/x") == {}

    run_scenario(scenario)


def test_every_response_is_counted() -> None:
    counted: list[tuple[str, str, int]] = []

    async def scenario(server: ApiServer, client: Client) -> None:
        server.answers = [answer({}), refusal(404), reset]
        server.watches = [stream(bookmark(9))]
        await client.get(CONFIG_MAPS, "team", "a")
        for _ in range(2):
            with pytest.raises(ApiError):
                await client.create(PODS, "team", {})
        await watched(client)

    def count(method: str, resource: str, status: int, _seconds: float) -> None:
        counted.append((method, resource, status))

    run_scenario(scenario, on_response=count)
    assert counted == [
        ("GET", "configmaps", 200),
        ("POST", "pods", 404),
        ("POST", "pods", 0),
        ("WATCH", "configmaps", 200),
    ]


def test_no_more_requests_than_allowed_are_under_way_and_watches_do_not_count() -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        server.answers = [hang] * 3
        tasks = [asyncio.create_task(client.get(CONFIG_MAPS, "team", str(number))) for number in range(3)]
        watches = [asyncio.create_task(watched(client)) for _ in range(4)]
        while len(server.watched) < 4 or len(server.lists) < 2:
            await asyncio.sleep(0)
        assert len(server.lists) == 2
        server.closing.set()
        await asyncio.gather(*tasks, *watches)
        assert len(server.lists) == 3

    run_scenario(scenario, requests=2)


def test_a_list_comes_page_by_page_with_what_its_items_are() -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        bare = {"metadata": {"name": "a"}}
        server.answers = [page([bare], 5, "more"), page([config_map("b", 4)], 5)]
        found = [part async for part in client.list(CONFIG_MAPS, selector="x=y", field_selector="f=g", limit=1)]
        assert [part.resource_version for part in found] == ["5", "5"]
        assert [part.first for part in found] == [True, False]
        assert found[0].items == [{"apiVersion": "v1", "kind": "ConfigMap", **bare}]
        assert [dict(request.query) for request in server.requests] == [
            {"limit": "1", "labelSelector": "x=y", "fieldSelector": "f=g"},
            {"limit": "1", "labelSelector": "x=y", "fieldSelector": "f=g", "continue": "more"},
        ]

    run_scenario(scenario)


def test_a_list_whose_token_has_expired_begins_anew() -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        server.answers = [
            page([config_map("a", 1), config_map("gone", 2)], 5, "more"),
            refusal(410, "Expired"),
            page([config_map("a", 1)], 8, "more"),
            page([config_map("b", 7)], 8),
        ]
        assert await names(client) == [["a"], ["b"]]

    run_scenario(scenario)


def test_a_list_whose_tokens_always_expire_gives_up() -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        server.answers = [page([], 5, "more"), refusal(410, "Expired")] * 10
        with pytest.raises(Gone):
            await names(client)
        assert len(server.requests) == 2 * (RESTARTS + 1)

    run_scenario(scenario)


@pytest.mark.parametrize(
    "body",
    [{}, {"items": []}, {"metadata": {}, "items": []}, {"metadata": {"resourceVersion": "x"}}, {"metadata": 3}],
)
def test_a_list_that_is_none_is_unreachable(body: object) -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        server.answers = [answer(body)]
        with pytest.raises(Unreachable):
            await names(client)

    run_scenario(scenario)


def test_a_watch_brings_events_and_bookmarks_until_it_is_closed() -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        events = [event("ADDED", config_map("a", 8)), bookmark(9), event("DELETED", config_map("a", 10))]
        server.watches = [stream(*events)]
        assert await watched(client, selector="x", timeout=300) == events
        assert dict(server.requests[0].query) == {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": "7",
            "labelSelector": "x",
            "timeoutSeconds": "300",
        }

    run_scenario(scenario)


def test_a_watch_survives_lines_of_megabytes_and_lines_in_pieces() -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        large = event("ADDED", config_map("a", 8, value="x" * 6_000_000))
        small = json.dumps(bookmark(9)).encode()
        server.watches = [stream(large, small[:9], small[9:] + b"\n\n", small + b"\n" + small + b"\n")]
        assert await watched(client) == [large, bookmark(9), bookmark(9), bookmark(9)]

    run_scenario(scenario)


@pytest.mark.parametrize("in_stream", [True, False])
def test_a_version_that_is_too_old_is_gone(in_stream: bool) -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        told_in_it = stream(bookmark(8), event("ERROR", status_object(410, "Expired", "too old")))
        server.watches = [told_in_it if in_stream else refusal(410, "Expired", "too old")]
        with pytest.raises(Gone, match="410 Expired: too old"):
            await watched(client)

    run_scenario(scenario)


@pytest.mark.parametrize("in_stream", [True, False])
def test_another_error_of_a_watch_is_reported_as_it_is(in_stream: bool) -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        error = status_object(500, "InternalError", "broken")
        server.watches = [stream(event("ERROR", error)) if in_stream else answer(error, 500)]
        with pytest.raises(ApiError, match="500 InternalError: broken") as caught:
            await watched(client)
        assert not caught.value.gone

    run_scenario(scenario)


@pytest.mark.parametrize(
    "rubbish",
    [b"<html>\n", b"[]\n", b'{"type": "ADDED"}\n', b'{"type": "ADDED", "object": 3}\n', b"\xff\xfe\n"],
)
def test_rubbish_in_a_watch_is_unreachable_and_what_came_before_counts(rubbish: bytes) -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        server.watches = [stream(bookmark(8), rubbish)]
        found: list[dict[str, Any]] = []
        with pytest.raises(Unreachable):
            await watched(client, found)
        assert found == [bookmark(8)]

    run_scenario(scenario)


def test_an_event_that_is_cut_off_is_none() -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        server.watches = [stream(bookmark(8), json.dumps(bookmark(9)).encode()[:-4])]
        assert await watched(client) == [bookmark(8)]

    run_scenario(scenario)


@pytest.mark.parametrize("parts", [[None], [bookmark(8), None]], ids=["from the start", "after an event"])
def test_a_watch_that_falls_silent_ends(parts: list[Part]) -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        server.watches = [stream(*parts)]
        with pytest.raises(Unreachable):
            await watched(client, timeout=0.1)

    run_scenario(scenario, timeout=0.1)


@pytest.mark.parametrize("fault", [hang, reset, cut(b'{"type":')], ids=["hang", "reset", "cut"])
def test_a_watch_whose_connection_breaks_is_unreachable(fault: Any) -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        server.watches = [fault] * 2
        with pytest.raises(Unreachable):
            await watched(client, timeout=0.1)

    run_scenario(scenario, timeout=0.1)


def test_a_request_that_waits_too_long_for_others_is_given_up() -> None:
    async def scenario(server: ApiServer, client: Client) -> None:
        server.answers = [hang]
        first = asyncio.create_task(client.request("GET", "/api/v1/first", timeout=60))
        await asyncio.sleep(0)
        with pytest.raises(Unreachable, match="the requests before it take too long"):
            await client.request("GET", "/api/v1/second", timeout=0.05)
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)

    run_scenario(scenario, requests=1)
