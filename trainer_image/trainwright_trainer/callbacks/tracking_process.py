"""The process beside training that sends a run to an MLflow server. `Tracker` starts it.

It reads messages from its standard input, one JSON array a line, and prints lines for the user. It ends with the input.
"""

from __future__ import annotations

import json
import os
import sys

from trainwright_trainer.callbacks.mlflow_run import MlflowRun, prepare_environment
from trainwright_trainer.callbacks.sender import Sender

NICENESS = 19
"""Training goes first: the import of MLflow alone takes seconds of CPU time."""


def main() -> None:
    os.nice(NICENESS)
    prepare_environment()
    # The last line is incomplete if the process that trains was killed.
    messages = (json.loads(line) for line in sys.stdin if line.endswith("\n"))
    _, address, last_seconds = next(messages)
    sender = Sender(MlflowRun(*address), lambda line: print(line, flush=True), last_seconds)
    finished = False
    for name, *arguments in messages:
        if name == "end":
            (finished,) = arguments
        else:
            sender.put(name, *arguments)
    sender.close(finished=finished)


if __name__ == "__main__":
    main()
