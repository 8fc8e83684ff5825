"""The times of renewals. A client that trusted the server before still trusts it after a renewal."""

from __future__ import annotations

import base64
from datetime import UTC, datetime, timedelta

import pytest

from trainwright_operator.server.ca import Pair, new_authority, new_server
from trainwright_operator.server.certificates import AUTHORITY_LIVES, Certificates, needs_renewal, renewed

NOW = datetime(2026, 5, 1, 12, tzinfo=UTC)
LIFE = timedelta(days=90)
NAMES = ("127.0.0.1", "localhost", "trainwright.ml.svc")


def made(now: datetime = NOW) -> Certificates:
    found = renewed(None, NAMES, now, LIFE)
    assert found is not None
    return found


def test_the_first_has_one_authority_and_the_servers_names():
    found = made()
    assert len(found.authorities) == 1
    assert set(found.server.names) == set(NAMES)
    assert found.server.signed_by(found.authorities[0])


def test_what_is_good_stays():
    assert renewed(made(), NAMES, NOW + LIFE / 2, LIFE) is None


@pytest.mark.parametrize(("part", "needs"), [(0.0, False), (0.6, False), (0.67, True), (1.1, True)])
def test_a_certificate_is_spent_after_two_thirds_of_its_life(part, needs):
    assert needs_renewal(made().server.certificate, NOW + LIFE * part) is needs


def test_a_server_gets_a_new_certificate_of_the_same_authority():
    before = made()
    after = renewed(before, NAMES, NOW + LIFE * 0.67, LIFE)
    assert after is not None
    assert after.server != before.server
    assert after.authorities == before.authorities
    assert after.server.signed_by(before.authorities[0])


def test_other_names_need_another_certificate():
    after = renewed(made(), (*NAMES, "operator.example.org"), NOW, LIFE)
    assert after is not None
    assert "operator.example.org" in after.server.names


def test_a_new_authority_is_announced_long_before_it_signs():
    old = made()
    late = NOW + LIFE * AUTHORITY_LIVES * 0.67
    announced = renewed(old, NAMES, late, LIFE)
    assert announced is not None
    assert announced.authorities[0] == old.authorities[0]
    assert len(announced.authorities) == 2
    assert announced.server.signed_by(old.authorities[0])


def test_the_new_authority_signs_before_the_old_one_ends_and_both_are_trusted():
    announced = renewed(made(), NAMES, NOW + LIFE * AUTHORITY_LIVES * 0.67, LIFE)
    change = NOW + LIFE * (AUTHORITY_LIVES - 0.5)
    after = renewed(announced, NAMES, change, LIFE)
    assert announced is not None
    assert after is not None
    assert after.authorities == announced.authorities
    assert after.server.signed_by(announced.authorities[1])


def test_at_every_moment_of_ten_years_a_client_of_the_last_year_trusts_the_server():
    """The client gets the bundle at its start, and connects a year later."""
    now, bundles, found = NOW, [], made()
    for _ in range(10 * 26):
        now += timedelta(days=14)
        found = renewed(found, NAMES, now, LIFE) or found
        bundles.append(found.authorities)
        known = bundles[-27 if len(bundles) > 27 else 0]
        assert any(found.server.signed_by(ca) for ca in known)
        assert found.server.certificate.not_valid_after_utc > now + LIFE * 0.1


def test_an_authority_that_has_ended_is_not_trusted_any_more():
    found = renewed(made(), NAMES, NOW + LIFE * (AUTHORITY_LIVES + 1), LIFE)
    assert found is not None
    assert len(found.authorities) == 1


def test_a_secret_reads_back():
    announced = renewed(made(), NAMES, NOW + LIFE * AUTHORITY_LIVES * 0.67, LIFE)
    assert announced is not None
    assert Certificates.read(announced.data) == announced


def test_a_secret_without_a_key_cannot_be_used():
    data = made().data
    del data["tls.key"]
    with pytest.raises(ValueError, match=r"tls\.key is missing"):
        Certificates.read(data)


@pytest.mark.parametrize("damage", ["", "bm90aGluZw==", "!"])
@pytest.mark.parametrize("key", ["ca.crt", "ca.key", "tls.crt", "tls.key"])
def test_a_damaged_secret_cannot_be_used(key, damage):
    with pytest.raises(ValueError):  # noqa: PT011  # whose words they are does not matter
        Certificates.read({**made().data, key: damage})


def test_a_key_of_another_certificate_is_refused():
    one, other = new_authority(NOW, LIFE), new_authority(NOW, LIFE)
    with pytest.raises(ValueError, match="not the certificate's"):
        Pair.read(one.certificate_pem, other.key_pem)


def test_clocks_may_differ_but_not_by_more_than_a_hundredth_of_a_life():
    ca = new_authority(NOW, LIFE)
    assert new_server(ca, NAMES, NOW, LIFE).certificate.not_valid_before_utc == NOW - timedelta(hours=1)
    short = new_server(ca, NAMES, NOW, timedelta(seconds=500)).certificate
    assert short.not_valid_before_utc == NOW - timedelta(seconds=5)


def test_no_key_is_in_the_bundle():
    found = made()
    assert b"PRIVATE" not in found.bundle
    assert base64.b64decode(found.data["ca.crt"]) == found.bundle
