"""The leader creates certificates, every pod loads them, and open connections survive the rotation."""

from __future__ import annotations

import asyncio
import base64
import logging
import ssl
from datetime import timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from trainwright_operator.kube.errors import ApiError
from trainwright_operator.server import ca
from trainwright_operator.server.app import serving
from trainwright_operator.server.ca import new_server
from trainwright_operator.server.certificate_rotator import SECRET_NAME, WEBHOOK_NAME, CertificateRotator, server_names
from trainwright_operator.settings import Settings

SECRET = f"/api/v1/namespaces/trainwright/secrets/{SECRET_NAME}"
WEBHOOK = f"/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/{WEBHOOK_NAME}"
LIFE = timedelta(days=90)


def refresh(rotator, leading=True):
    asyncio.run(rotator.refresh(leading=leading))


def announced(api):
    return [base64.b64decode(entry["clientConfig"]["caBundle"]).decode() for entry in api.objects[WEBHOOK]["webhooks"]]


@pytest.fixture
def webhook(api):
    return api.put(
        WEBHOOK, {"webhooks": [{"name": "trainingjobs.trainwright.dev", "clientConfig": {"url": "https://x"}}]}
    )


def test_the_server_has_the_names_that_it_is_called_by():
    settings = Settings(namespace="ml", progress_url="https://10.0.0.7:9443/x")
    names = server_names(settings)
    assert {"trainwright.ml.svc", "trainwright.ml.svc.cluster.local", "10.0.0.7", "localhost"} <= set(names)
    assert server_names(Settings())


def test_only_the_leader_makes_a_certificate(api, place, another):
    follower = another()
    refresh(follower.rotator, leading=False)
    assert not follower.rotator.loaded
    assert follower.rotator.bundle == ""
    assert api.methods() == ["GET"]
    refresh(place.rotator)
    refresh(follower.rotator, leading=False)
    assert follower.rotator.loaded
    assert follower.rotator.bundle == place.rotator.bundle
    assert api.objects[SECRET]["type"] == "kubernetes.io/tls"


def test_the_leader_shows_the_api_server_whom_to_trust(api, place, webhook):
    refresh(place.rotator)
    assert announced(api) == [place.rotator.bundle]
    assert api.objects[WEBHOOK]["webhooks"][0]["clientConfig"]["url"] == webhook["webhooks"][0]["clientConfig"]["url"]


def test_a_certificate_of_cert_manager_is_loaded_and_renewed_by_nobody_here(api, place, webhook, clock):
    refresh(place.rotator)
    issued = {key: value for key, value in api.objects[SECRET]["data"].items() if key != "ca.key"}
    api.objects[SECRET]["data"] = issued
    api.objects[WEBHOOK] = webhook
    api.requests.clear()
    rotator = CertificateRotator(api, Settings(own_certificates=False), clock)
    refresh(rotator)
    assert rotator.loaded
    assert rotator.bundle == place.rotator.bundle
    assert rotator.expiry == place.rotator.expiry
    clock.pass_by(days=61)
    refresh(rotator)
    assert api.methods() == ["GET", "GET"]
    assert api.objects[SECRET]["data"] == issued


def test_the_intermediate_certificates_of_an_issuer_are_served_too(place, api, clock):
    """An issuer's `ca.crt` has the root alone, which did not sign the certificate of the server."""
    root, between = authorities(clock())
    server = new_server(between, ["localhost"], clock(), LIFE)
    chain = server.certificate_pem + between.certificate_pem
    parts = {"ca.crt": root.certificate_pem, "tls.crt": chain, "tls.key": server.key_pem}
    api.put(SECRET, {"data": {name: base64.b64encode(part).decode() for name, part in parts.items()}})
    place.rotator = rotator = CertificateRotator(api, Settings(own_certificates=False), clock)

    async def conversation():
        await rotator.refresh(leading=False)
        async with (
            serving(place.application(), rotator.context, 0, "127.0.0.1") as port,
            Line(port, rotator.bundle) as line,
        ):
            await line.asks()

    asyncio.run(conversation())


def authorities(now):
    """Return a root, and an authority that it has signed."""
    root, below = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    usage = ca._usage(signs_certificates=True)
    names = [x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]) for name in ("root", "intermediate")]
    issuer = x509.AuthorityKeyIdentifier.from_issuer_public_key(root.public_key())
    pairs = []
    for key, name in ((root, names[0]), (below, names[1])):
        builder = ca._builder(now, LIFE, name, names[0], key).add_extension(x509.BasicConstraints(True, None), True)
        builder = builder.add_extension(usage, True).add_extension(issuer, False)
        pairs.append(ca.Pair(builder.sign(root, hashes.SHA256()), key))
    return pairs


@pytest.mark.parametrize("left", [{}, {"ca.key": "eA=="}], ids=["no key", "another key"])
def test_a_certificate_that_cert_manager_left_serves_until_this_pod_leads(api, place, another, left):
    """Otherwise a rollout without cert-manager would wait for ready pods, and these for a leader of the rollout."""
    refresh(place.rotator)
    data = api.objects[SECRET]["data"]
    issued = {**{key: value for key, value in data.items() if key != "ca.key"}, **left}
    api.objects[SECRET]["data"] = issued
    follower = another()
    refresh(follower.rotator, leading=False)
    assert follower.rotator.loaded
    assert api.objects[SECRET]["data"] == issued
    refresh(follower.rotator)
    made = api.objects[SECRET]["data"]
    assert made["ca.key"] not in ("", left.get("ca.key"))
    assert made["tls.crt"] != issued["tls.crt"]
    assert base64.b64decode(made["ca.crt"]).decode() == follower.rotator.bundle


def test_without_the_secret_of_cert_manager_none_is_made(api, clock):
    rotator = CertificateRotator(api, Settings(own_certificates=False), clock)
    refresh(rotator)
    assert (rotator.loaded, rotator.expiry, api.methods()) == (False, None, ["GET"])


@pytest.mark.usefixtures("webhook")
def test_what_is_right_is_not_written_again(api, place):
    refresh(place.rotator)
    api.requests.clear()
    refresh(place.rotator)
    assert api.methods() == ["GET", "GET"]


@pytest.mark.usefixtures("webhook")
def test_a_bundle_that_somebody_overwrote_is_put_back(api, place):
    refresh(place.rotator)
    api.objects[WEBHOOK]["webhooks"][0]["clientConfig"]["caBundle"] = ""
    refresh(place.rotator)
    assert announced(api) == [place.rotator.bundle]


def test_an_install_for_single_namespaces_touches_no_webhook(api, clock):
    refresh(CertificateRotator(api, Settings(namespaces=("ml",)), clock))
    assert not any(path == WEBHOOK for _, path, _ in api.requests)


@pytest.mark.usefixtures("webhook")
def test_the_certificate_is_made_anew_after_two_thirds_and_followers_load_it(api, place, another, clock):
    follower = another()
    refresh(place.rotator)
    refresh(follower.rotator, leading=False)
    before = api.objects[SECRET]["data"]
    clock.pass_by(days=61)
    refresh(place.rotator)
    after = api.objects[SECRET]["data"]
    assert before["tls.crt"] != after["tls.crt"]
    assert before["ca.crt"] == after["ca.crt"]
    clock.pass_by(days=30)
    assert not follower.rotator.loaded
    refresh(follower.rotator, leading=False)
    assert follower.rotator.loaded


def test_a_deleted_secret_comes_back_with_the_authority_that_pods_trust(api, place):
    refresh(place.rotator)
    bundle = place.rotator.bundle
    del api.objects[SECRET]
    refresh(place.rotator)
    assert base64.b64decode(api.objects[SECRET]["data"]["ca.crt"]).decode() == bundle


@pytest.mark.parametrize("data", [None, {}, {"tls.crt": "eA=="}])
def test_a_damaged_secret_is_mended_by_the_leader_alone(api, place, another, data):
    api.put(SECRET, {"metadata": {"name": SECRET_NAME}, "data": data})
    follower = another()
    refresh(follower.rotator, leading=False)
    assert not follower.rotator.loaded
    refresh(place.rotator)
    refresh(follower.rotator, leading=False)
    assert follower.rotator.loaded


def test_of_two_leaders_in_a_handover_one_writes(api, place, another):
    refresh(place.rotator)
    place.clock.pass_by(days=61)
    other = another()

    def meanwhile(method, _path):
        if method == "PUT":
            api.before = lambda *_: None
            api.put(SECRET, api.objects[SECRET])

    api.before = meanwhile
    with pytest.raises(ApiError, match="modified"):
        refresh(place.rotator)
    refresh(other.rotator)
    refresh(place.rotator)
    assert place.rotator.bundle == other.rotator.bundle


@pytest.mark.parametrize(
    ("failure", "logged"),
    [
        (ApiError(503, "ServiceUnavailable", "later"), "503 ServiceUnavailable: later"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (TimeoutError("it took too long"), "it took too long"),
    ],
)
def test_what_fails_for_a_moment_does_not_end_the_watch(api, place, caplog, failure, logged):
    pauses = []

    async def sleep(seconds):
        pauses.append(seconds)
        if len(pauses) == 3:
            raise asyncio.CancelledError

    api.failures = [failure]
    with caplog.at_level(logging.WARNING), pytest.raises(asyncio.CancelledError):
        asyncio.run(place.rotator.keep(lambda: True, sleep))
    assert pauses == [1.0, 60.0, 60.0]
    assert logged in caplog.text


@pytest.mark.usefixtures("webhook")
def test_connections_go_on_while_the_certificate_changes(place, clock):
    """An open connection keeps its certificate, the next one gets the new certificate, and one bundle trusts both."""

    async def conversation():
        clock.pass_by(days=-61)
        await place.rotator.refresh(leading=True)
        bundle = place.rotator.bundle
        async with (
            serving(place.application(), place.rotator.context, 0, "127.0.0.1") as port,
            Line(port, bundle) as old,
        ):
            await old.asks()
            clock.pass_by(days=61)
            await place.rotator.refresh(leading=True)
            await old.asks()
            async with Line(port, bundle) as new:
                await new.asks()
                return old.serial, new.serial

    before, after = asyncio.run(conversation())
    assert before != after


class Line:
    """A connection that stays open."""

    def __init__(self, port, bundle):
        self._port, self._trust = port, ssl.create_default_context(cadata=bundle)

    async def __aenter__(self):
        self._reader, self._writer = await asyncio.open_connection("localhost", self._port, ssl=self._trust)
        self.serial = self._writer.get_extra_info("peercert")["serialNumber"]
        return self

    async def __aexit__(self, *_):
        self._writer.close()
        await self._writer.wait_closed()

    async def asks(self):
        self._writer.write(b"GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await self._reader.readuntil(b"ok\n")).startswith(b"HTTP/1.1 200")
