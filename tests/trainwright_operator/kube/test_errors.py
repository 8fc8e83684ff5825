from __future__ import annotations

import json

import pytest

from trainwright_operator.kube.errors import ApiError, Gone, Unreachable, of_answer, of_status

WORDS = ("not_found", "already_exists", "conflict", "gone", "invalid", "too_many", "overloaded")


def words(error: ApiError) -> set[str]:
    return {word for word in WORDS if getattr(error, word)}


@pytest.mark.parametrize(
    ("code", "reason", "expected"),
    [
        (401, "Unauthorized", set()),
        (403, "Forbidden", set()),
        (404, "NotFound", {"not_found"}),
        (409, "AlreadyExists", {"already_exists"}),
        (409, "Conflict", {"conflict"}),
        (410, "Expired", {"gone"}),
        (422, "Invalid", {"invalid"}),
        (429, "TooManyRequests", {"too_many", "overloaded"}),
        (500, "InternalError", set()),
        (503, "ServiceUnavailable", {"overloaded"}),
    ],
)
def test_what_kind_of_error_it_is(code: int, reason: str, expected: set[str]) -> None:
    status = {"kind": "Status", "code": code, "reason": reason, "message": "no such thing"}
    for error in (of_answer(code, "Phrase", json.dumps(status).encode(), None), of_status(status)):
        assert words(error) == expected
        assert (error.status, error.reason, error.message) == (code, reason, "no such thing")
        assert isinstance(error, Gone) == (code == 410)
        assert str(error) == f"{code} {reason}: no such thing"


@pytest.mark.parametrize("body", [b"", b"<html>bad gateway</html>", b"[1]", b'"x"', b"\xff\xfe", b"{"])
def test_an_answer_that_is_no_status_is_shown_as_it_is(body: bytes) -> None:
    error = of_answer(502, "Bad Gateway", body, None)
    assert (error.status, error.reason) == (502, "Bad Gateway")
    assert error.message == body.decode(errors="replace")


def test_a_long_answer_is_cut() -> None:
    assert len(of_answer(502, "Bad Gateway", b"x" * 10_000, None).message) == 500


@pytest.mark.parametrize(
    ("header", "details", "seconds"),
    [("7", {}, 7.0), (None, {"retryAfterSeconds": 3}, 3.0), ("7", {"retryAfterSeconds": 3}, 7.0), ("soon", {}, None)],
)
def test_how_long_the_api_server_asks_to_wait(header: str | None, details: object, seconds: float | None) -> None:
    body = json.dumps({"kind": "Status", "code": 429, "details": details}).encode()
    assert of_answer(429, "Too Many Requests", body, header).retry_after == seconds


@pytest.mark.parametrize("status", [{}, {"code": "x", "reason": 3, "details": "x"}])
def test_a_status_without_sense_is_an_error_all_the_same(status: dict[str, object]) -> None:
    assert of_status(status).status == 500


def test_without_an_answer_there_is_no_status() -> None:
    error = Unreachable("GET /x: reset")
    assert (error.status, words(error), str(error)) == (0, set(), "Unreachable: GET /x: reset")
