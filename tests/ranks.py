"""Several processes that meet in a process group of gloo's, as a backend starts them, but here and quickly.

They are forked from a server that has imported torch and has started no thread.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import socket
import tempfile
import traceback
from collections.abc import Callable
from datetime import timedelta
from functools import partial
from multiprocessing.connection import Connection
from typing import Any

_PRELOADED = ["torch", "torch.distributed", "trainwright_trainer.tasks.train"]


def on_ranks(world: int, work: Callable[..., Any], *arguments: Any, cuda: str = "nccl") -> list[Any]:
    """Return the result of `work(*arguments)` on each rank. The function is at module level, and its result can be
    pickled. `cuda`: the library that connects GPUs, if there are any.
    """
    return _answers(_run(world, work, arguments, cuda=cuda)[0])


def on_launched(world: int, work: Callable[..., Any], *arguments: Any) -> list[Any]:
    """The same in processes with the variables of torchrun, in which `work` trains a job: that joins the group."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    return _answers(_run(world, work, arguments, port)[0])


def _answers(found: list[tuple[str | None, Any]]) -> list[Any]:
    failures = [text for text, _ in found if text is not None]
    assert not failures, "\n".join(failures)
    return [answer for _, answer in found]


def on_ranks_until_a_kill(world: int, work: Callable[..., Any], *arguments: Any) -> list[int | None]:
    """The exit codes of ranks of which one is killed. The others end with an exception."""
    return _run(world, work, arguments)[1]


def _run(
    world: int, work: Callable[..., Any], arguments: tuple[Any, ...], port: int | None = None, cuda: str = "nccl"
) -> tuple[list[tuple[str | None, Any]], list[int | None]]:
    """The value that each rank sends, its traceback and its result, and the exit codes."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    with tempfile.TemporaryDirectory() as folder:
        ends, processes = [], []
        for rank in range(world):
            mine, theirs = context.Pipe(duplex=False)
            join = partial(_launched, port) if port is not None else partial(_joined, f"file://{folder}/store", cuda)
            process = context.Process(target=_rank, args=(rank, world, join, work, arguments, theirs), daemon=True)
            process.start()
            theirs.close()
            ends.append(mine)
            processes.append(process)
        answers = [_answer(end) for end in ends]
        for process in processes:
            process.join()
    return answers, [process.exitcode for process in processes]


def _answer(end: Connection) -> tuple[str | None, Any]:
    try:
        found: tuple[str | None, Any] = pickle.loads(end.recv_bytes())
    except EOFError:
        return "a rank ended without an answer", None
    return found


def _joined(place: str, cuda: str, rank: int, world: int) -> None:
    import torch
    import torch.distributed as dist

    backend = f"cpu:gloo,cuda:{cuda}" if torch.cuda.is_available() else "gloo"
    dist.init_process_group(backend, place, timedelta(seconds=60), world, rank)


def _launched(port: int, rank: int, world: int) -> None:
    shared = {"WORLD_SIZE": world, "LOCAL_WORLD_SIZE": world, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port}
    os.environ.update({name: str(value) for name, value in {**shared, "RANK": rank, "LOCAL_RANK": rank}.items()})


def _rank(
    rank: int,
    world: int,
    join: Callable[[int, int], None],
    work: Callable[..., Any],
    arguments: tuple[Any, ...],
    end: Connection,
) -> None:
    import torch
    import torch.distributed as dist

    os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
    torch.set_num_threads(1)
    join(rank, world)
    try:
        answer: tuple[str | None, Any] = (None, work(*arguments))
    except Exception:
        answer = (traceback.format_exc(), None)
    # Not by torch's way through shared memory, which ends with this process.
    end.send_bytes(pickle.dumps(answer))
    if dist.is_initialized():
        dist.destroy_process_group()
