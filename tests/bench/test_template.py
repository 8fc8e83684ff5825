"""A recording of one job replays for another job."""

from __future__ import annotations

from bench.cluster.jobs import VERSION, filled, template

UID = "8c1f0d3e-0000-4000-8000-0123456789ab"
OTHER = "1b2c3d4e-0000-4000-8000-ba9876543210"


def test_names_uids_and_versions_are_filled_in() -> None:
    recorded = {
        "path": "/apis/ray.io/v1/namespaces/bench/rayjobs",
        "body": {"name": "first-8c1f0d3e-1-train", "owner": UID, "resourceVersion": VERSION},
    }
    found = filled(template(recorded, "first", UID), "second", OTHER, "17")
    assert found["path"] == recorded["path"]
    assert found["body"] == {"name": "second-1b2c3d4e-1-train", "owner": OTHER, "resourceVersion": "17"}


def test_what_a_name_holds_stays_json() -> None:
    assert filled(template({"text": 'a "quoted" first'}, "first", UID), "second", OTHER) == {
        "text": 'a "quoted" second'
    }
