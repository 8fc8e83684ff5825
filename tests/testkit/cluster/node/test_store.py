"""A node's root is linked, not copied; but its databases are its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from testkit.cluster.node.store import Store

pytestmark = pytest.mark.slow  # it tests the testkit, which every other test uses


def test_files_are_shared_and_databases_are_not(tmp_path: Path) -> None:
    store = Store(tmp_path / "images")
    layer, database = store.root / "snapshots" / "1" / "file", store.root / "meta.db"
    layer.parent.mkdir(parents=True)
    layer.write_text("a layer")
    database.write_text("what is known")
    node = tmp_path / "node"
    store.link(node)
    assert (node / "snapshots" / "1" / "file").samefile(layer)
    assert not (node / "meta.db").samefile(database)
    assert (node / "meta.db").read_text() == "what is known"
