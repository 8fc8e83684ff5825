"""A server of S3 or of Google's interface that is away, or has no room, for a time by a fake clock."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from testkit.cluster.busy_server import Busy
from testkit.cluster.object_store import GoogleStore, ObjectStore
from tests.trainwright_trainer.storage.outage_clock import OutageClock

from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.gcs import GcsStorage
from trainwright_trainer.storage.location import GcsUri, S3Uri
from trainwright_trainer.storage.s3 import S3Storage
from trainwright_trainer.storage.s3client.credentials import from_environment

Server = ObjectStore | GoogleStore


@pytest.fixture
def clock() -> OutageClock:
    return OutageClock()


@pytest.fixture(params=["s3", "gcs"])
def kind_of_store(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def patient(kind_of_store: str, clock: OutageClock, request: pytest.FixtureRequest) -> Storage:
    if kind_of_store == "s3":
        bucket = S3Uri.parse(request.getfixturevalue("bucket"), "output")
        return S3Storage(bucket / "run", from_environment(), clock.retry_policy())
    bucket = GcsUri.parse(request.getfixturevalue("google_bucket"), "output")
    return GcsStorage(bucket / "run", clock.retry_policy())


@pytest.fixture
def away(kind_of_store: str, request: pytest.FixtureRequest) -> Iterator[Server]:
    """The server, which the test may kill. The fixture restarts it afterwards."""
    server: Server = request.getfixturevalue("object_store" if kind_of_store == "s3" else "google_store")
    yield server
    server.kill()
    server.start()


@pytest.mark.parametrize("kind", ["down", "busy"])
def test_a_server_that_is_away_for_half_a_minute_only_delays(
    patient: Storage, clock: OutageClock, away: Server, kind: str
) -> None:
    patient.write("before", [b"one"])

    def go() -> None:
        away.kill()
        if kind == "down":
            clock.at(clock.now + 30, away.start)
        else:
            busy = Busy(away.address)
            clock.at(clock.now + 30, busy.close)
            clock.at(clock.now + 30, away.start)

    for act in (
        lambda: patient.read("before") == b"one",
        lambda: patient.write("after", [b"two"]) is None,
        lambda: patient.create("start.json", b"mine"),
        lambda: patient.list() == ["after", "before", "start.json"],
        lambda: patient.delete_tree("") is None,
    ):
        go()
        before = clock.now
        assert act()
        assert 30 <= clock.now - before < 60


def test_after_two_minutes_it_is_a_failure_of_the_environment(
    patient: Storage, clock: OutageClock, away: Server
) -> None:
    away.kill()
    with pytest.raises(EnvironmentFailure) as caught:
        patient.write("metrics.json", [b"{}"])
    assert 120 <= clock.now < 180
    line = rf"{patient.location}/metrics\.json: no answer from {away.url} \(Connection refused\) \(asked for 1\d\d s\)"
    assert re.fullmatch(line, str(caught.value))


def test_a_server_that_has_no_room_for_requests_is_reported_as_such(patient: Storage, away: Server) -> None:
    away.kill()
    busy = Busy(away.address)
    try:
        with pytest.raises(EnvironmentFailure, match=r"run/a: the store says (SlowDown|503): .* \(asked for 1"):
            patient.read("a")
    finally:
        busy.close()
