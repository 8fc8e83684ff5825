"""Run workers with Ray Train. Each gets its rank info, and the driver handles messages until all workers are done.

A worker sends a user's mistake as a message and does not raise it, because Ray Train retries after any exception.
After the loss of a worker, Ray Train restarts all of them, at most `retries` times.
"""

from __future__ import annotations

import math
import os
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from functools import partial
from typing import Any
from uuid import uuid4

import ray
from ray.actor import ActorHandle
from ray.exceptions import RayError
from ray.train import get_context
from ray.train.torch import TorchConfig, TorchTrainer, get_device
from ray.train.v2._internal.execution.callback import ControllerCallback
from ray.train.v2.api.callback import RayTrainCallback
from ray.train.v2.api.config import FailureConfig, LoggingConfig, RunConfig, ScalingConfig

from trainwright_trainer.backends.ray.channel import RayChannel
from trainwright_trainer.backends.ray.environment import enter
from trainwright_trainer.backends.ray.mailbox import Mailbox
from trainwright_trainer.backends.ray.messages import Channel, Message, pickled, unpickled
from trainwright_trainer.backends.ray.nodes import STOP_REASON_OF_DRAIN, Nodes
from trainwright_trainer.backends.ray.one_node import actor_here
from trainwright_trainer.backends.ray.resources import WorkerResources, check_whole_gpus
from trainwright_trainer.distributed.process_group import collectives_for
from trainwright_trainer.distributed.rank_info import RankInfo
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.runtime.cpus import asked_threads, first_environment, usable_cpus
from trainwright_trainer.runtime.signals import StopRequest

Work = Callable[[Any, RankInfo, Channel], None]

# The other ranks wait while rank 0 reads the data. They notice a lost process at once, whatever this timeout is.
_TIMEOUT_SECONDS = 6 * 3600
_NO_MEMORY = "running low on memory"
# The time in which all workers have to exit after the first message of an end.
_EXIT_SECONDS = 60.0


def on_workers(
    needs: WorkerResources, work: Work, spec: Any, answer: Callable[[Message], Any], stop: StopRequest
) -> None:
    """Call `work(spec, rank_info, channel)` on each worker. `answer` handles each message, in this thread, in order.

    Raises `Mistakes` if workers share a GPU, and `EnvironmentFailure` if more are lost than the retries allow.
    """
    check_whole_gpus(needs)
    mailbox = actor_here(Mailbox, stop.decides)
    with tempfile.TemporaryDirectory(prefix="trainwright-ray-") as scratch:
        entry = partial(_run_worker, os.getcwd(), needs.resources.get("CPU", 0), work, spec, mailbox)
        with closing(Fitting(_trainer(needs, entry, mailbox, scratch).fit, mailbox)) as fitting:
            _handle_messages(mailbox, fitting, answer, stop)
    if fitting.error is not None and not ray.get(mailbox.ended.remote()):
        raise lost_workers(fitting.error)


def _trainer(
    needs: WorkerResources, entry: Callable[[], None], mailbox: ActorHandle[Any], scratch: str
) -> TorchTrainer:
    process_group_backend = collectives_for("cuda" if needs.use_gpu else "cpu")
    return TorchTrainer(
        entry,
        torch_config=TorchConfig(backend=process_group_backend, timeout_s=_TIMEOUT_SECONDS),
        scaling_config=scaling_of(needs),
        run_config=run_of(needs, mailbox, name=f"trainwright-{uuid4().hex[:12]}", storage_path=scratch),
    )


def scaling_of(needs: WorkerResources) -> ScalingConfig:
    """The size of the gang. With a range, workers that are lost with their node are replaced if there is room, and else
    the others go on. A gang that runs does not grow, because Ray Train would drop its steps since the last checkpoint.
    """
    least = needs.workers if needs.least is None else needs.least
    return ScalingConfig(
        num_workers=needs.workers if least == needs.workers else (least, needs.workers),
        elastic_resize_monitor_interval_s=math.inf,
        use_gpu=needs.use_gpu,
        resources_per_worker=dict(needs.resources),
    )


def run_of(needs: WorkerResources, mailbox: ActorHandle[Any], own: Sequence[RayTrainCallback] = (), **more: Any) -> Any:
    """A RunConfig with the retries of the job. The annotations of `TorchTrainer` still name the older class."""
    callbacks: Any = [_ControllerStarted(mailbox), *own]  # Ray takes its internal callbacks too
    return RunConfig(
        failure_config=FailureConfig(max_failures=needs.retries),
        logging_config=LoggingConfig(log_level="ERROR"),
        callbacks=callbacks,
        **more,
    )


class _ControllerStarted(ControllerCallback):
    """Sends the handle of Ray Train's controller to the mailbox. Ray calls it in the controller's process."""

    def __init__(self, mailbox: ActorHandle[Any]) -> None:
        self._mailbox = mailbox

    def after_controller_start(self, train_run_context: Any) -> None:  # noqa: ARG002
        self._mailbox.controller_started.remote(ray.get_runtime_context().current_actor)


def _run_worker(folder: str, cpus: float, work: Work, spec: Any, mailbox: ActorHandle[Any]) -> None:
    """Run in a worker.

    Ray sets OMP_NUM_THREADS to the worker's CPUs, so the user's value is read from the initial environment.
    """
    enter(folder)
    context = get_context()
    channel = RayChannel(mailbox)
    rank, world = context.get_world_rank(), context.get_world_size()
    try:
        rank_info = RankInfo(rank, world, str(get_device()), usable_cpus(cpus), asked_threads(first_environment()))
        work(spec, rank_info, channel)
    finally:
        channel.close()


class Fitting:
    """Ray Train's `fit` in a background thread. The main thread handles messages in the meantime.

    `close()` ends it early, because Ray ends a process of which a thread still uses Ray after its shutdown.
    """

    def __init__(self, fit: Callable[[], object], mailbox: ActorHandle[Any]) -> None:
        self.error: Exception | None = None
        self._call = fit
        self._mailbox = mailbox
        self._thread = threading.Thread(target=self._fit, name="ray-train", daemon=True)
        self._thread.start()

    @property
    def goes_on(self) -> bool:
        return self._thread.is_alive()

    def close(self) -> None:
        """Kill the controller if it still runs, and wait for the thread."""
        if not self.goes_on:
            return
        with suppress(RayError):  # the cluster is gone
            controller: Any = ray.get(self._mailbox.controller.remote())
            if controller is not None:
                ray.kill(controller)
        self._thread.join(_EXIT_SECONDS)

    def _fit(self) -> None:
        try:
            self._call()
        except Exception as error:  # the outermost edge of this thread; Ray has many classes for one error
            self.error = error


def lost_workers(error: Exception) -> EnvironmentFailure:
    """The failure of a `fit` whose workers were lost more often than the retries allow."""
    return EnvironmentFailure(f"workers were lost, and no retry is left: {_reason(error)}")


def _reason(error: Exception) -> str:
    """Ray's last line. For workers that it killed to free memory that is advice: then the sentence with the cause."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    sentences = (sentence for line in lines for sentence in line.split(". "))
    cause = next((sentence for sentence in sentences if _NO_MEMORY in sentence), None)
    return cause or (lines[-1] if lines else type(error).__name__)


def _handle_messages(
    mailbox: ActorHandle[Any], fitting: Fitting, answer: Callable[[Message], Any], stop: StopRequest
) -> None:
    """Handle messages until the workers are done, or until `_EXIT_SECONDS` after the first message of an end."""
    asked, ended_at = False, float("inf")
    nodes = Nodes()

    def tell_stop() -> None:
        nonlocal asked
        if stop.reason is not None and not asked:
            ray.get(mailbox.stop.remote(stop.reason))
            asked = True

    def answered(message: Message) -> Any:
        """The reply. A stop that follows from the message is in the mailbox before the worker has the reply."""
        found = answer(message)
        tell_stop()
        return found

    while fitting.goes_on and time.monotonic() < ended_at + _EXIT_SECONDS:
        if deliver(mailbox, answered):
            ended_at = min(ended_at, time.monotonic())
        draining = nodes.newly_draining(time.monotonic())
        if nodes.here in draining:
            stop.ask(STOP_REASON_OF_DRAIN)
        elif draining:
            ray.get(mailbox.save.remote())
        tell_stop()
    deliver(mailbox, answer)


def deliver(mailbox: ActorHandle[Any], answer: Callable[[Message], Any]) -> bool:
    """Handle the waiting messages. True if one of them reports the end."""
    messages: list[Message] = ray.get(mailbox.take.remote())
    for message in messages:
        found = answer(replace(message, content=unpickled(message.content)))
        if message.number is not None:
            ray.get(mailbox.answer.remote(message.number, pickled(found)))
    return any(message.kind == "ended" for message in messages)
