"""Nodes and pods share one network, and no two of them an address."""

from __future__ import annotations

from ipaddress import ip_address, ip_network

import pytest
from testkit.cluster.api_server import SERVICES
from testkit.cluster.node.cluster_folder import FIRST, HOST, NETWORK, SECOND, Site

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses


def own(site: Site) -> tuple[int, int]:
    return int(ip_address(site.address)), int(ip_address(site.last_pod))


def test_all_addresses_are_of_the_network() -> None:
    network = ip_network(NETWORK)
    for address in (HOST, *(getattr(site, end) for site in (FIRST, SECOND) for end in ("address", "last_pod"))):
        assert ip_address(address) in network


def test_nodes_do_not_share_addresses() -> None:
    assert int(ip_address(HOST)) < own(FIRST)[0] < own(FIRST)[1] < own(SECOND)[0] < own(SECOND)[1]


def test_a_nodes_first_pod_follows_the_node() -> None:
    assert int(ip_address(FIRST.first_pod)) == int(ip_address(FIRST.address)) + 1


def test_services_have_a_network_of_their_own() -> None:
    assert not ip_network(NETWORK).overlaps(ip_network(SERVICES))


def test_names_of_devices_are_not_too_long_for_the_kernel() -> None:
    assert all(len(site.wire) <= 15 for site in (FIRST, SECOND))
