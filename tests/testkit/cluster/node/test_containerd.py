"""containerd's files: read back as containerd and its plugins read them."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest
from testkit.cluster.node import containerd
from testkit.cluster.node.cluster_folder import FIRST, SECOND

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses


def config(folder: Path, with_pods: bool) -> dict[str, object]:
    path = containerd.configure(folder, folder / "root", folder / "state", folder / "sock", with_pods)
    return tomllib.loads(path.read_text())


def test_a_node_has_a_root_and_a_socket_of_its_own(tmp_path: Path) -> None:
    read = config(tmp_path, with_pods=True)
    assert read["root"] == str(tmp_path / "root")
    assert read["grpc"] == {"address": str(tmp_path / "sock")}
    assert read["disabled_plugins"] == []


def test_a_store_runs_no_pods(tmp_path: Path) -> None:
    assert config(tmp_path, with_pods=False)["disabled_plugins"] == [containerd.CRI]


def test_two_nodes_give_their_pods_different_addresses(tmp_path: Path) -> None:
    ranges = []
    for site in (FIRST, SECOND):
        folder = tmp_path / site.name
        folder.mkdir()
        containerd.configure_network(folder, site)
        written = json.loads((folder / "cni" / "10-pods.conflist").read_text())
        ranges.append(written["plugins"][0]["ipam"]["ranges"][0][0]["rangeStart"])
    assert ranges == [FIRST.first_pod, SECOND.first_pod]
