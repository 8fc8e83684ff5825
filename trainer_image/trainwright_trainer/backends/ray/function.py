"""Run a user's own train function with Ray Train. Its reports, log lines and failures become messages to the driver.

Ray Train starts the workers again after any exception and after the loss of a worker, at most `retries` times. It
keeps the checkpoints, and a function that starts again gets the newest one.
"""

from __future__ import annotations

import logging
import os
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import partial
from posixpath import basename
from typing import Any

import numpy as np
import ray.train
from pyarrow import fs
from ray.actor import ActorHandle
from ray.exceptions import RayError
from ray.train import UserCallback
from ray.train.v2._internal.exceptions import RayTrainError
from ray.train.v2._internal.execution import context
from ray.train.v2.api.config import CheckpointConfig
from ray.train.v2.api.exceptions import WorkerGroupError
from ray.train.v2.torch.torch_trainer import TorchTrainer

from trainwright_api.problems import Mistakes
from trainwright_api.resource.job import Entrypoint
from trainwright_trainer.backends.ray.channel import RayChannel
from trainwright_trainer.backends.ray.environment import enter
from trainwright_trainer.backends.ray.fit import Fitting, deliver, lost_workers, run_of, scaling_of
from trainwright_trainer.backends.ray.mailbox import Mailbox
from trainwright_trainer.backends.ray.messages import Message, pickled
from trainwright_trainer.backends.ray.nodes import STOP_REASON_OF_DRAIN, Nodes
from trainwright_trainer.backends.ray.one_node import actor_here
from trainwright_trainer.backends.ray.resources import WorkerResources
from trainwright_trainer.backends.ray.worker_lines import WorkerLines
from trainwright_trainer.errors import FunctionFailed, Outcome
from trainwright_trainer.job.train_function import call_with, imported
from trainwright_trainer.runtime.signals import StopRequest


@dataclass(frozen=True)
class FunctionSpec:
    """A function to run. `folders`: where its module is looked for first; `threads`: None leaves them to torch."""

    entrypoint: Entrypoint
    folders: Sequence[str]
    threads: int | None


@dataclass(frozen=True)
class KeptCheckpoints:
    """The place and the choice of the checkpoints that Ray Train keeps. Without a `score` it keeps the newest ones."""

    files: fs.FileSystem
    folder: str
    number: int
    score: str | None
    order: str

    @property
    def run_options(self) -> dict[str, Any]:
        """Arguments of a RunConfig."""
        parent, _, name = self.folder.rpartition("/")
        order: Any = self.order if self.score else "max"
        kept = CheckpointConfig(
            num_to_keep=self.number, checkpoint_score_attribute=self.score, checkpoint_score_order=order
        )
        return {"name": name, "storage_path": parent, "storage_filesystem": self.files, "checkpoint_config": kept}


def run_function(
    needs: WorkerResources,
    function: FunctionSpec,
    kept: KeptCheckpoints,
    answer: Callable[[Message], Any],
    stop: StopRequest,
) -> bool:
    """Call the function on each worker, and `answer` for each message, in this thread. False after a stop request.

    Raises `FunctionFailed`, and `EnvironmentFailure` if workers are lost, each if it happens more often than the
    retries allow.
    """
    mailbox = actor_here(Mailbox)
    trainer = TorchTrainer(
        partial(_run_worker, os.getcwd(), function, mailbox),
        scaling_config=scaling_of(needs),
        run_config=run_of(needs, mailbox, [_Reports(mailbox)], **kept.run_options),
    )
    nodes = Nodes()
    with closing(Fitting(trainer.fit, mailbox)) as fitting:
        while fitting.goes_on:
            deliver(mailbox, answer)
            if nodes.here in nodes.newly_draining(time.monotonic()):
                stop.ask(STOP_REASON_OF_DRAIN)
            if stop.reason is not None:
                return False
    deliver(mailbox, answer)
    if fitting.error is not None:
        raise failure_of(fitting.error, function.entrypoint)
    return True


def failure_of(error: Exception, entrypoint: Entrypoint) -> Exception:
    """The failure of the function, if all that failed are exceptions of its own. Otherwise workers were lost."""
    failures = error.worker_failures if isinstance(error, WorkerGroupError) else {}
    own = {rank: one for rank, one in failures.items() if not isinstance(one, RayTrainError | RayError)}
    if not own or len(own) < len(failures):
        return lost_workers(error)
    rank, first = min(own.items())
    line = f"{type(first).__name__}: {first}".partition("\n")[0]
    return FunctionFailed(f"{entrypoint.module}.{entrypoint.function} failed on rank {rank}: {line}")


class _Reports(UserCallback):
    """Sends each report of the workers to the driver. Ray calls it in the process of its controller."""

    def __init__(self, mailbox: ActorHandle[Any]) -> None:
        self._mailbox = mailbox

    def after_report(self, run_context: Any, metrics: list[dict[str, Any]], checkpoint: Any) -> None:  # noqa: ARG002
        name = None if checkpoint is None else basename(checkpoint.path)
        content = (_numbers(metrics[0]), name)
        self._mailbox.post.remote([Message("reported", pickled(content))])


def _numbers(metrics: Mapping[str, Any]) -> dict[str, float]:
    """The metrics that are numbers, of Python or numpy, by their names."""
    plain = {str(name): value.item() if isinstance(value, np.generic) else value for name, value in metrics.items()}
    return {name: value for name, value in plain.items() if isinstance(value, int | float)}


def _run_worker(folder: str, spec: FunctionSpec, mailbox: ActorHandle[Any]) -> None:
    """Run in a worker.

    A mistake of the user is sent and not raised, because Ray Train retries after any exception.
    """
    enter(folder)
    context.logger.setLevel(logging.ERROR)  # its lines are about every report, and `log_level` does not reach it
    rank = ray.train.get_context().get_world_rank()
    channel = RayChannel(mailbox)
    lines = WorkerLines(rank, lambda line: channel.send("log", [line]))
    try:
        with redirect_stdout(lines), redirect_stderr(lines):
            _call(spec, rank, channel)
    finally:
        lines.finish()
        channel.close()


def _call(spec: FunctionSpec, rank: int, channel: RayChannel) -> None:
    try:
        function = imported(spec.entrypoint, spec.folders)
    except Mistakes as error:
        channel.send("ended", (rank, Outcome.of(error)))
        return
    if spec.threads is not None:
        import torch

        torch.set_num_threads(spec.threads)
    if rank == 0:
        found = ray.train.get_checkpoint()
        channel.send("began", None if found is None else basename(found.path))
    try:
        call_with(function, dict(spec.entrypoint.config))
    except BaseException:
        channel.send("failed", (rank, traceback.format_exc()))
        raise
