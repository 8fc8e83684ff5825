"""Only what is missing is installed. Scripts play the package manager and the programs."""

from __future__ import annotations

from pathlib import Path

import pytest
from testkit.cluster.errors import ClusterError
from testkit.cluster.images import debian

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses

APT = '#!/bin/sh\necho "$@" >> "$ASKED"\n'


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that holds all programs of the machine; what apt-get is asked is in `asked`."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("ASKED", str(tmp_path / "asked"))
    monkeypatch.setattr(debian, "FOLDERS", "")
    monkeypatch.setattr(debian, "NODE_PACKAGES", {"containerd": "containerd", "runc": "runc"})
    return tmp_path


def put(machine: Path, name: str, script: str = "#!/bin/sh\n") -> None:
    (machine / name).write_text(script)
    (machine / name).chmod(0o755)


def test_what_is_there_is_left_alone(machine: Path) -> None:
    for name in ("containerd", "runc"):
        put(machine, name)
    put(machine, "apt-get", APT)
    debian.install_for_node()
    assert not (machine / "asked").exists()


def test_what_is_missing_is_installed(machine: Path) -> None:
    put(machine, "runc")
    put(machine, "apt-get", APT)
    debian.install_for_node()
    updated, installed = (machine / "asked").read_text().splitlines()
    assert updated.startswith("update")
    assert installed.startswith("install")
    assert installed.split()[-1] == "containerd"
    assert "runc" not in installed.split()


def test_a_machine_without_debian_packages_is_reported_what_is_missing(machine: Path) -> None:
    put(machine, "runc")
    with pytest.raises(ClusterError, match=r"missing.*apt-get.*containerd$"):
        debian.install_for_node()
