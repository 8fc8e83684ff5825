"""Debian's Prometheus, unpacked into the cache without being installed, and a server of it."""

from __future__ import annotations

import json
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

from testkit.cluster import locks
from testkit.cluster.errors import ClusterError
from testkit.cluster.port import LOOPBACK, Port
from testkit.cluster.process import Process, wait_until
from testkit.cluster.program import cache_folder

PACKAGE = "prometheus"
SCRAPE_SECONDS = 1


def program() -> Path:
    """Return the path of the program. The first process downloads the package; others wait."""
    cache = cache_folder() / PACKAGE
    found = cache / "unpacked" / "usr" / "bin" / PACKAGE
    with locks.locked(cache / "lock"):
        if not found.exists():
            _unpack(cache / "unpacked")
    return found


def _unpack(target: Path) -> None:
    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        if not _fetched(folder):
            subprocess.run(["apt-get", "update", "-qq"], capture_output=True, check=False)
            if not _fetched(folder):
                raise ClusterError(f"apt-get cannot fetch Debian's {PACKAGE}: see `apt-get download {PACKAGE}`")
        [package] = Path(folder).glob("*.deb")
        unpacked = Path(folder) / "unpacked"
        subprocess.run(["dpkg-deb", "-x", str(package), str(unpacked)], check=True)
        unpacked.rename(target)


def _fetched(folder: str) -> bool:
    command = ["apt-get", "download", "-qq", PACKAGE]
    return subprocess.run(command, cwd=folder, capture_output=True, check=False).returncode == 0


class Prometheus:
    """A server that scrapes addresses every second and evaluates groups of rules.

    `trust`: Prometheus' settings for TLS (`tls_config`); empty if the targets have none. `more`: other settings of the
    scrape.
    """

    def __init__(
        self,
        folder: Path,
        targets: Sequence[str],
        groups: Sequence[Mapping[str, Any]] = (),
        trust: Mapping[str, str] = MappingProxyType({}),
        more: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        self._folder, self._port = folder, Port()
        self._url = f"http://{LOOPBACK}:{self._port.number}"
        (folder / "rules.yaml").write_text(json.dumps({"groups": list(groups)}))
        every = {"scrape_interval": f"{SCRAPE_SECONDS}s", "evaluation_interval": f"{SCRAPE_SECONDS}s"}
        secure = {"scheme": "https", "tls_config": dict(trust)} if trust else {}
        scrape = {"job_name": "operator", "static_configs": [{"targets": list(targets)}], **secure, **more}
        config = {"global": every, "scrape_configs": [scrape], "rule_files": ["rules.yaml"]}
        (folder / "prometheus.yaml").write_text(json.dumps(config))
        self._process: Process | None = None

    def __enter__(self) -> Self:
        self._port.close()  # Prometheus cannot share a port.
        flags = {
            "config.file": str(self._folder / "prometheus.yaml"),
            "storage.tsdb.path": str(self._folder / "data"),
            "web.listen-address": self._url.removeprefix("http://"),
        }
        self._process = Process(program(), flags, self._folder / "prometheus.log")
        wait_until(lambda: len(self._or_nothing("count_over_time(up[1m]) >= 3")) > 0, self._process)
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        self._process.kill()

    def query(self, expression: str) -> list[dict[str, Any]]:
        """Return the result of an instant query. Raises ClusterError for an expression that is refused."""
        found = self._asked(f"/api/v1/query?{urllib.parse.urlencode({'query': expression})}")
        return list(found["data"]["result"])

    def alerts(self) -> dict[str, dict[str, Any]]:
        """Return all alerting rules by their names, with their health and state."""
        found = self._asked("/api/v1/rules?type=alert")
        return {rule["name"]: rule for group in found["data"]["groups"] for rule in group["rules"]}

    def wait_until(self, holds: Any) -> None:
        assert self._process is not None
        wait_until(holds, self._process)

    def _or_nothing(self, expression: str) -> list[dict[str, Any]]:
        try:
            return self.query(expression)
        except (OSError, ClusterError):  # it does not answer yet, or is not ready
            return []

    def _asked(self, path: str) -> dict[str, Any]:
        try:
            with urllib.request.urlopen(f"{self._url}{path}", timeout=10) as response:
                found: dict[str, Any] = json.load(response)
                return found
        except urllib.error.HTTPError as refused:
            raise ClusterError(f"Prometheus refuses {path}: {refused.read().decode()}") from None
