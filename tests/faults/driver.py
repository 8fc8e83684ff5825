"""Starts `trainwright` processes quickly: it imports once and forks for every start.

Importing torch takes seconds, and the tests of this folder start and kill dozens of processes. This program checks
that it has one thread when it forks. So a child equals `trainwright …` right after its imports: a process with its own
signals, files, limits and exit status, which ends as Python ends. Requests are lines of JSON on standard input:

    {"arguments": […], "environment": {…}, "folder": "…", "output": "…", "errors": "…", "limits": {"FSIZE": …}}  → pid
    {"wait": pid}  → its exit status, in the form of subprocess
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
from typing import Any

import safetensors.torch  # noqa: F401
import torch
import torch._dynamo  # the first optimizer and DDP import it
import torch.distributed.fsdp

import trainwright_trainer.tasks.run
import trainwright_trainer.tasks.train  # noqa: F401
from trainwright_trainer import cli

PAGE = resource.getpagesize()


def serve() -> None:
    """Handle requests until the input ends. In a child, return after its work is done."""
    answers = os.dup(1)
    _say(answers, os.getpid())
    for line in sys.stdin:
        order = json.loads(line)
        if "wait" in order:
            answer = os.waitstatus_to_exitcode(os.waitpid(order["wait"], 0)[1])
        else:
            assert len(os.listdir("/proc/self/task")) == 1, "forking with threads is not safe"
            answer = os.fork()
            if not answer:
                os.close(answers)
                _become(order)
                cli.main()
                return
        _say(answers, answer)


def _say(answers: int, number: int) -> None:
    os.write(answers, f"{number}\n".encode())


def _become(order: dict[str, Any]) -> None:
    os.environ.clear()
    os.environ.update(order["environment"])
    os.chdir(order["folder"])
    sys.argv = ["trainwright", *order["arguments"]]
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
    opened = [os.open(os.devnull, os.O_RDONLY), *(os.open(order[name], flags) for name in ("output", "errors"))]
    for number, file in enumerate(opened):
        os.dup2(file, number)
        os.close(file)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    for name, size in order["limits"].items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (_limit(name, size), resource.RLIM_INFINITY))


def _limit(name: str, size: int) -> int:
    """The limit. A limit of memory is relative to the current size of the process."""
    if name != "AS":
        return size
    with open("/proc/self/statm", encoding="ascii") as file:
        return size + int(file.read().split()[0]) * PAGE


if __name__ == "__main__":
    torch.set_num_threads(1)
    serve()
