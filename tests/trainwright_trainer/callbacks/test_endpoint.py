"""Against a real TLS server."""

from __future__ import annotations

import socket
import ssl
from dataclasses import replace

import pytest
from testkit.cluster import certificates
from testkit.server.listening import HANG, listening

from trainwright_api.resource.messages import ProgressMessage, Reply, Report
from trainwright_trainer.callbacks.endpoint import Endpoint, NotTaken

REPORT = Report(uid="abc", attempt=2, progress=ProgressMessage(stage="train", last_checkpoint="0000000001-2"))


@pytest.fixture
def operator(tmp_path):
    with listening(tmp_path) as found:
        yield found


@pytest.fixture
def endpoint(operator):
    return Endpoint(operator.url, operator.token_file, operator.ca)


def test_a_report_arrives_as_the_contract_has_it(operator, endpoint):
    assert endpoint.post(REPORT) == Reply(stop=False, reason="")
    (report,) = operator.reports
    assert (report.path, report.token) == ("/v1/namespaces/a/jobs/b", "first")
    assert report.body == {
        "uid": "abc",
        "attempt": 2,
        "progress": {"stage": "train", "lastCheckpoint": "0000000001-2"},
    }


def test_the_token_is_read_anew_for_every_report(operator, endpoint):
    endpoint.post(REPORT)
    operator.token_file.write_text("renewed")
    endpoint.post(REPORT)
    assert [report.token for report in operator.reports] == ["first", "renewed"]


@pytest.mark.parametrize(
    ("body", "reply"),
    [
        ({"stop": True, "reason": "the job is suspended"}, Reply(stop=True, reason="the job is suspended")),
        ({"stop": False, "reason": "", "later": 1}, Reply()),
        ({"stop": "yes"}, Reply()),
        ([], Reply()),
    ],
)
def test_what_is_answered(operator, endpoint, body, reply):
    operator.answer = (200, body)
    assert endpoint.post(REPORT) == reply


@pytest.mark.parametrize(
    ("answer", "line", "refused"),
    [
        ((500, {}), "it answers 500", False),
        ((503, {"message": "try again\nlater"}), "it answers 503: try again", False),
        ((401, {"message": "no token"}), "it answers 401: no token", False),
        ((403, {"message": "the pod is gone"}), "it answers 403: the pod is gone", True),
        ((404, None), "it answers 404", True),
    ],
)
def test_what_is_no_reply(operator, endpoint, answer, line, refused):
    operator.answer = answer
    with pytest.raises(NotTaken) as failed:
        endpoint.post(REPORT)
    assert (str(failed.value), failed.value.refused) == (line, refused)


def test_a_ca_without_key_usage_is_one(tmp_path, monkeypatch):
    """`openssl req -x509` makes such CAs. From Python 3.13 on, a new context refuses them."""
    made = ssl.create_default_context

    def strict(**options):
        context = made(**options)
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(ssl, "create_default_context", strict)
    monkeypatch.setattr(certificates, "AUTHORITY", ("basicConstraints=critical,CA:TRUE",))
    with listening(tmp_path) as operator:
        assert Endpoint(operator.url, operator.token_file, operator.ca).post(REPORT) == Reply()


def test_one_that_never_answers(operator, endpoint):
    operator.answer = (HANG, None)
    with pytest.raises(NotTaken, match="timed out"):
        replace(endpoint, timeout=0.1).post(REPORT)


def test_one_that_nobody_signed(operator, endpoint):
    with pytest.raises(NotTaken, match="CERTIFICATE_VERIFY_FAILED"):
        replace(endpoint, ca=None).post(REPORT)
    assert operator.reports == []


def test_one_that_is_not_there(endpoint):
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        url = f"https://localhost:{found.getsockname()[1]}/"
    with pytest.raises(NotTaken, match="refused"):
        replace(endpoint, url=url).post(REPORT)


@pytest.mark.parametrize("missing", ["token_file", "ca"])
def test_files_that_are_not_mounted_yet(endpoint, tmp_path, missing):
    with pytest.raises(NotTaken, match="No such file"):
        replace(endpoint, **{missing: tmp_path / "gone"}).post(REPORT)


def test_nothing_is_sent_in_the_open(endpoint):
    with pytest.raises(NotTaken, match=r"^http://operator/ is no https address$"):
        replace(endpoint, url="http://operator/").post(REPORT)
