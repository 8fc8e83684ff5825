"""`trainwright run` in a pod: the run itself, and a report of every outcome to the operator.

The outcome goes to four places, because each may be unreachable: the termination message, the operator's progress
server, attempts/N/outcome.json, and the exit code.
"""

from __future__ import annotations

import os
import sys
import traceback
from contextlib import AbstractContextManager, nullcontext, suppress
from pathlib import Path

from trainwright_api.checks import load
from trainwright_api.problems import Mistakes
from trainwright_api.resource.messages import OutcomeMessage, termination_message
from trainwright_api.resource.stages import PREPROCESS
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.callbacks.endpoint import Endpoint
from trainwright_trainer.callbacks.push import Pusher, ReportSource
from trainwright_trainer.errors import AlreadyDone, EnvironmentFailure, LostRank, Outcome, is_bug
from trainwright_trainer.job.options import Options
from trainwright_trainer.job.pod import Pod
from trainwright_trainer.job.versions import refuse_skew
from trainwright_trainer.pod.local_ranks import with_other_ranks
from trainwright_trainer.pod.log_tail import LogTail
from trainwright_trainer.pod.termination import message_of, outcome_of, outcome_of_existing_run
from trainwright_trainer.pod.whole_log import WholeLog
from trainwright_trainer.rundir import layout
from trainwright_trainer.rundir.record import write_outcome
from trainwright_trainer.runtime.signals import StopRequest, stopping_in_a_pod
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.storage.s3client.job_credentials import NO_KEYS, keys_of
from trainwright_trainer.tasks import run

LOST_RANK_CODE = 143
"""The exit code after the loss of another rank, which is that of SIGTERM: the pod that is gone holds the cause."""


def run_in_pod(pod: Pod, path: Path, options: Options) -> int:
    """Run one stage of an attempt. Returns the exit code, and raises no exception."""
    with (
        _whole_log(pod, path) as whole,
        LogTail(whole.add if whole else None).keeping(sys.stdout, sys.stderr) as log,
        stopping_in_a_pod(StopRequest()) as stop,
        with_other_ranks(pod, path, options),
    ):
        console = Console(as_json=options.json, quiet=not pod.reports)
        pusher = _pusher(pod, console, stop)
        ended = _outcome(pod, path, options, console, stop)
        if ended is None or not pod.reports:
            _keep(whole)
            return LOST_RANK_CODE if ended is None else ended.exit_code
        message = message_of(ended, pod, log.text())
        _write_termination_log(pod.termination_log, message)
        failure = pusher.finish(message) if pusher else None
        if failure is not None:
            # The last line of the log still has to be the reason of the outcome.
            _print(f"the outcome did not reach the operator: {failure}", ended.line)
        _record_outcome(pod, path, ended, log.text())
        _keep(whole)
    return ended.exit_code


def _whole_log(pod: Pod, path: Path) -> AbstractContextManager[WholeLog | None]:
    """The log of this process in the run folder, or None for a job without one."""
    run_folder = pod.run
    if run_folder is None:
        return nullcontext()
    rank = pod.member.rank if pod.member is not None else 0
    name = f"{layout.attempt_logs(pod.attempt)}{pod.stage}-{rank}.log"
    return WholeLog(lambda: _run_folder(run_folder, path), name)


def _keep(whole: WholeLog | None) -> None:
    failure = whole.send() if whole is not None else ""
    if failure:
        _print(f"the log could not be written to the run folder: {failure}")


def _pusher(pod: Pod, console: Console, stop: StopRequest) -> Pusher | None:
    """The started pusher of progress, or None if the operator has no address."""
    if pod.address is None or not pod.reports:
        return None
    endpoint = Endpoint(pod.address.url, pod.address.token_file, pod.address.ca)
    pusher = Pusher(
        endpoint.post,
        ReportSource(pod.uid, pod.attempt, pod.stage),
        stop=lambda reason: stop.ask_from_a_thread(f"the operator ({reason})"),
        log=console.log,
    )
    pusher.start()
    console.share(pusher)
    return pusher


def _outcome(pod: Pod, path: Path, options: Options, console: Console, stop: StopRequest) -> Outcome | None:
    """Run the stage. The log ends with the text of the outcome. None if another rank is gone."""
    try:
        refuse_skew(pod)
        return outcome_of(run.run(None, path, options, console=console, pod=pod, stop=stop))
    except AlreadyDone as done:
        console.log(str(done))
        return outcome_of_existing_run(_run_folder(pod.run, path)) if pod.run else Outcome("done", str(done))
    except LostRank as lost:
        _print(str(lost))
        return None
    except Exception as error:  # the outermost edge: no caller can report to the operator
        found = Outcome.of(error)
        if is_bug(error):
            traceback.print_exc()
        _print(_text(error, path))
        return found


def _text(error: Exception, path: Path) -> str:
    """The text at the end of the log, the same as on the command line."""
    if isinstance(error, Mistakes):
        return error.render(path.name)
    line = Outcome.of(error).line
    return f"internal error, a bug of trainwright's: {line}" if is_bug(error) else line


def _print(*lines: str) -> None:
    for line in lines:
        print(line, file=sys.stderr, flush=True)


def _write_termination_log(place: Path, message: OutcomeMessage) -> None:
    """Write the termination message. The kubelet creates the file; without it, nothing reads the message."""
    with suppress(OSError):
        descriptor = os.open(place, os.O_WRONLY | os.O_TRUNC)
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(termination_message(message))


def _record_outcome(pod: Pod, path: Path, ended: Outcome, log: str) -> None:
    """Write the outcome if the attempt has not begun. After its beginning, the attempt writes its own outcome."""
    if pod.run is None or (pod.stage == PREPROCESS and ended.kind == "done"):
        return
    with suppress(Mistakes, EnvironmentFailure):
        storage = _run_folder(pod.run, path)
        if not storage.exists(layout.start(pod.attempt)):
            write_outcome(storage, pod.attempt, Outcome(ended.kind, ended.line, log.splitlines()))


def _run_folder(place: str, job: Path) -> Storage:
    """The run folder, with the job's credentials if the file is valid, else with those of the environment."""
    keys = NO_KEYS
    with suppress(Mistakes):
        keys = keys_of(load.inspected(load.text_of(job), job.name).valid().job.spec.backend)
    return storage_at(place, keys.artifacts)
