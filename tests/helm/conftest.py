"""Helm without a cluster."""

from __future__ import annotations

import pytest
from testkit.cluster.chart import Helm


@pytest.fixture(scope="session")
def helm() -> Helm:
    return Helm()
