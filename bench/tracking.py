"""The cost of a slow MLflow server for a step of training.

python -m bench.tracking [--dry] [--rounds N]

One process trains the same network, with a tracker and without, in turn. The server is a process beside it that answers
each request after a second. There is an evaluation after every 150 steps, so requests wait all the time.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from multiprocessing.connection import Connection

from bench.loop import BATCHES, BOOK, Clock, config, data, train
from bench.results import Result, record, result
from trainwright_trainer.callbacks.events import Listener, Started
from trainwright_trainer.callbacks.tracker import Tracker
from trainwright_trainer.distributed.ranks import OneRank

STEPS, STEPS_PER_EVALUATION, ROUNDS, DELAY_SECONDS = 3_000, 150, 9, 1.0
WIDTH, LAYERS, BATCH = 256, 2, BATCHES[0]
_ANSWER = json.dumps(
    {"experiment": {"experiment_id": "1", "lifecycle_stage": "active"}, "run": {"info": {"run_id": "1"}}, "runs": []}
).encode()


class _Slow(BaseHTTPRequestHandler):
    """Answers every request of MLflow's client, late."""

    def _answer(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        time.sleep(DELAY_SECONDS)
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(_ANSWER)

    do_GET = do_POST = do_PATCH = _answer  # noqa: N815

    def log_message(self, *_: object) -> None:
        """Print nothing."""


def _serve(ready: Connection) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Slow)
    ready.send(server.server_port)
    server.serve_forever()


@contextmanager
def slow_server() -> Iterator[str]:
    """The address of the server."""
    ready, other = multiprocessing.Pipe()
    process = multiprocessing.get_context("spawn").Process(target=_serve, args=(other,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ready.recv()}"
    finally:
        process.kill()
        process.join()


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


def seconds_per_step(listeners: list[Listener]) -> float:
    made = config(WIDTH, LAYERS, BATCH, STEPS)
    made = made.model_copy(
        update={"trainer": made.trainer.model_copy(update={"steps_per_checkpoint": STEPS_PER_EVALUATION})}
    )
    clock = Clock()
    return train(made, data(BATCH * 100), OneRank(), listeners=[clock, *listeners])


def tracking(rounds: int = ROUNDS) -> dict[str, Result]:
    found: list[tuple[float, float]] = []
    with slow_server() as address:
        for number in range(rounds):
            plain = seconds_per_step([])
            tracker = Tracker((address, "bench", str(number), "bench"), {}, lambda: ({}, ""), print)
            tracker.on_event(_started())
            found.append((plain, seconds_per_step([tracker])))
            tracker.close()
    lost = statistics.median(tracked / plain - 1 for plain, tracked in found)
    return {
        "batch 1,024: no tracker": result(1 / statistics.median(plain for plain, _ in found), "steps/s"),
        "batch 1,024: MLflow that answers after 1 s": result(
            1 / statistics.median(tracked for _, tracked in found), "steps/s"
        ),
        "batch 1,024: time lost to the tracker": result(100 * lost, "%", "≤ 1.0"),
    }


def main() -> None:
    parser = argparse.ArgumentParser(prog="bench.tracking", description="The cost of a slow MLflow server for a step.")
    parser.add_argument("--dry", action="store_true", help="print, and write nothing")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args()
    record(tracking(options.rounds), BOOK, dry=options.dry)


if __name__ == "__main__":
    main()
