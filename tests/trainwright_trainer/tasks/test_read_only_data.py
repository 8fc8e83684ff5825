"""A trained model reads data from a store that is only read: a real web server."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest


class _Site(SimpleHTTPRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Print no log."""


@pytest.fixture
def site(workplace: Any) -> Iterator[str]:
    """The URL of the folder of the workplace."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Site, directory=str(workplace.folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_predictions_are_those_of_the_same_file_here(workplace: Any, site: str) -> None:
    workplace.done("train", workplace.job(), "--output", "out")
    for place, output in (("data.csv", "here.csv"), (f"{site}/data.csv", "there.csv")):
        workplace.done("predict", "--model", "out", "--dataset", place, "--output", output)
    assert Path("there.csv").read_text() == Path("here.csv").read_text()
    workplace.done("evaluate", "--model", "out", "--dataset", f"{site}/data.csv", "--output", "scores")
    assert Path("scores/evaluation.json").exists()


def test_a_key_in_a_url_is_in_no_message_and_in_no_file_but_the_job(workplace: Any, site: str) -> None:
    lines = Path("data.csv").read_text().splitlines()
    workplace.data(*lines, *("," + line.partition(",")[2] for line in lines[1:20]))
    url = f"{site}/data.csv?signature=canary"
    job = workplace.job(lambda job: job.update(dataset=url), name="web.yaml")
    out = workplace.done("train", job, "--output", "out").out
    assert "data.csv: missing cells" in out
    out += workplace.done("evaluate", job, "--output", "out").out
    assert "canary" not in out
    found = [path for path in Path().rglob("*") if path.is_file() and b"canary" in path.read_bytes()]
    assert sorted(map(str, found)) == ["out/job.yaml", "web.yaml"]
