"""The certificates say what Kubernetes reads in them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from testkit.cluster.certificates import CertificateAuthority
from testkit.cluster.errors import ClusterError

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses


def text(certificate: Path) -> str:
    command = ["openssl", "x509", "-in", str(certificate), "-noout", "-subject", "-ext", "subjectAltName"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def test_the_ca_signs_users_with_their_groups(tmp_path: Path) -> None:
    ca = CertificateAuthority.new(tmp_path / "certificates")
    user = ca.user("system:somebody", ["one", "system:two"])
    assert "O = one, O = system:two, CN = system:somebody" in text(user.certificate)
    command = ["openssl", "verify", "-purpose", "sslclient", "-CAfile", ca.own.certificate, user.certificate]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_server_is_known_by_its_hosts(tmp_path: Path) -> None:
    server = CertificateAuthority.new(tmp_path / "certificates").server("server", ["DNS:localhost", "IP:127.0.0.1"])
    assert "DNS:localhost, IP Address:127.0.0.1" in text(server.certificate)


def test_one_folder_holds_one_ca(tmp_path: Path) -> None:
    first = CertificateAuthority.new(tmp_path / "certificates")
    second = CertificateAuthority(tmp_path / "certificates")
    command = ["openssl", "verify", "-CAfile", first.own.certificate, second.user("anybody").certificate]
    assert subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_keys_are_for_their_owner_alone(tmp_path: Path) -> None:
    key = CertificateAuthority.new(tmp_path / "certificates").user("somebody").key
    assert key.stat().st_mode & 0o077 == 0


def test_without_openssl_one_line_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(ClusterError, match=r"^openssl is not installed: .*$"):
        CertificateAuthority.new(tmp_path / "certificates")
