"""Tokens: the API server reviews them, and a bounded cache keeps the results for a minute, by hash."""

from __future__ import annotations

import asyncio
import copy

import pytest

from trainwright_operator.server import expiring_cache
from trainwright_operator.server.pod_identity import PodIdentity, Reviews

GOOD = {
    "authenticated": True,
    "audiences": ["trainwright"],
    "user": {
        "username": "system:serviceaccount:ml:default",
        "extra": {
            "authentication.kubernetes.io/pod-name": ["late-1-abc"],
            "authentication.kubernetes.io/pod-uid": ["p1"],
        },
    },
}


def with_user(**user):
    changed = copy.deepcopy(GOOD)
    changed["user"].update(user)
    return changed


@pytest.fixture
def reviews(api, clock):
    api.tokens["good"] = GOOD
    return Reviews(api, clock.seconds)


def identity(reviews, token="good"):
    return asyncio.run(reviews.identity(token))


def test_a_good_token_names_its_pod(api, reviews):
    assert identity(reviews) == PodIdentity("ml", "late-1-abc", "p1")
    assert api.requests[0][2]["spec"] == {"token": "good", "audiences": ["trainwright"]}


@pytest.mark.parametrize(
    "status",
    [
        {"error": "expired"},
        {**GOOD, "authenticated": False},
        {**GOOD, "audiences": ["https://kubernetes.default.svc"]},
        {**GOOD, "audiences": None},
        {**GOOD, "user": None},
        with_user(extra=None),
        with_user(extra={}),
        with_user(username="system:node:n1"),
        with_user(username="x:system:serviceaccount:ml:default"),
    ],
)
def test_any_other_names_nobody(api, reviews, status):
    api.tokens["bad"] = status
    assert identity(reviews, "bad") is None


def test_a_review_is_remembered_for_a_minute(api, reviews, clock):
    identity(reviews)
    clock.pass_by(seconds=59)
    identity(reviews)
    assert len(api.requests) == 1
    clock.pass_by(seconds=2)
    del api.tokens["good"]
    assert identity(reviews) is None


def test_a_refusal_is_remembered_for_seconds_so_that_a_wrong_token_costs_one_review(api, reviews, clock):
    assert [identity(reviews, "early") for _ in range(5)] == [None] * 5
    assert len(api.requests) == 1
    api.tokens["early"] = GOOD
    clock.pass_by(seconds=11)
    assert identity(reviews, "early") is not None


def test_wrong_tokens_do_not_displace_good_ones(api, reviews):
    identity(reviews)
    for number in range(expiring_cache.MOST + 5):
        identity(reviews, f"wrong-{number}")
    api.requests.clear()
    assert identity(reviews) is not None
    assert api.requests == []


def test_no_token_itself_is_remembered(reviews):
    identity(reviews, "good")
    assert "good" not in repr(reviews._known._values)
