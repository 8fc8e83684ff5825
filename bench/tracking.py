"""The cost of a slow MLflow server for a step of training.

python -m bench.tracking [--dry]

One process trains a network on one thread, with a tracker. The server is a process beside it that answers each request
after a second. There is an evaluation after every 150 steps, so requests wait all the time.

CPU time counts, because other programs on the machine change it little: that of the tracker's calls on the training
thread, of the other threads of this process, and of the process that sends. Their sum, as a share of the CPU time of
training, is an upper bound of the time lost: where a core is free, only the calls delay a step.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection
from pathlib import Path

import torch

from bench.loop import BATCHES, BOOK, config, data, train
from bench.results import Result, record, result
from trainwright_trainer.callbacks.events import Event, Started
from trainwright_trainer.callbacks.tracker import Tracker
from trainwright_trainer.distributed.ranks import OneRank

STEPS, STEPS_PER_EVALUATION, DELAY_SECONDS = 6_000, 150, 1.0
WIDTH, LAYERS, BATCH = 256, 2, BATCHES[0]
_ANSWER = json.dumps(
    {"experiment": {"experiment_id": "1", "lifecycle_stage": "active"}, "run": {"info": {"run_id": "1"}}, "runs": []}
).encode()
_LAST_OF_THE_START = "/runs/set-tag"
"""The request after which the process that sends waits for scores."""


class _Slow(BaseHTTPRequestHandler):
    """Answers every request of MLflow's client, late. `requests` gets the path of each."""

    requests: Connection

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.requests.send(self.path)
        time.sleep(DELAY_SECONDS)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(_ANSWER)

    do_GET = do_POST = do_PATCH = _answer  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def _serve(requests: Connection) -> None:
    _Slow.requests = requests
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Slow)
    requests.send(server.server_port)
    server.serve_forever()


@contextmanager
def slow_server() -> Iterator[tuple[str, Connection]]:
    """The address of the server, and a connection that receives the path of each request."""
    requests, other = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(other,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{requests.recv()}", requests
    finally:
        process.kill()
        process.join()


class Meter:
    """Passes events to a tracker, and counts the CPU time of the calls."""

    def __init__(self, tracker: Tracker) -> None:
        self._tracker = tracker
        self.seconds = 0.0

    def on_event(self, event: Event) -> None:
        began = time.thread_time()
        self._tracker.on_event(event)
        self.seconds += time.thread_time() - began

    def close(self) -> None: ...


def cpu_seconds(process: int) -> float:
    """The CPU time of all threads of a process, from Linux's /proc."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def tracking() -> dict[str, Result]:
    made = config(WIDTH, LAYERS, BATCH, STEPS)
    made = made.model_copy(
        update={"trainer": made.trainer.model_copy(update={"steps_per_checkpoint": STEPS_PER_EVALUATION})}
    )
    torch.set_num_threads(1)
    with slow_server() as (address, requests):
        tracker = Tracker((address, "bench", "1", "bench"), {}, lambda: ({}, ""), print)
        tracker.on_event(_started())
        assert tracker._process is not None
        sender = tracker._process.pid
        while not requests.recv().endswith(_LAST_OF_THE_START):
            pass
        start, whole, thread = cpu_seconds(sender), time.process_time(), time.thread_time()
        meter = Meter(tracker)
        train(made, data(BATCH * 100), OneRank(), listeners=[meter])
        thread, whole = time.thread_time() - thread, time.process_time() - whole
        sent = cpu_seconds(sender) - start
        tracker.close()
    step = (thread - meter.seconds) / STEPS
    shares = {"calls": meter.seconds, "other threads": whole - thread, "process that sends": sent}
    name = "MLflow that answers after 1 s"
    return {
        f"{name}: a step": result(1_000 * step, "ms of CPU time"),
        **{f"{name}: {part}": result(100 * seconds / STEPS / step, "% of a step") for part, seconds in shares.items()},
        f"{name}: at most": result(100 * sum(shares.values()) / STEPS / step, "% of a step", "≤ 1.0"),
        f"{name}: start of the process that sends": result(start, "s of CPU time"),
    }


def _started() -> Started:
    return Started(
        name="bench",
        rows=BATCH * 100,
        split_rows={"train": BATCH * 100, "validation": 8, "test": 0},
        inputs=16,
        outputs={"y": "binary"},
        cache_key="",
        cache_hit=False,
        batch_size=BATCH,
        optimizer="adam",
        learning_rate=0.001,
        epochs=STEPS // 100,
        steps_per_epoch=100,
        threads=1,
        validation_metric="y.loss",
        attempt=1,
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.tracking", description="The cost of a slow MLflow server for a step.")
    parser.add_argument("--dry", action="store_true", help="print, and write nothing")
    options = parser.parse_args()
    record(tracking(), BOOK, dry=options.dry)


if __name__ == "__main__":
    main()
