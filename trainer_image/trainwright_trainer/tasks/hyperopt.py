"""The task hyperopt: prepare the data once, run the trials, and make the best trial's model the job's model."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from trainwright_api.config.hyperopt import HyperoptConfig
from trainwright_api.config.hyperopt.substitution import WHOLE
from trainwright_api.problems import Mistakes
from trainwright_api.resource.size import search_of
from trainwright_trainer.backends.ray.environment import settle
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.errors import AlreadyDone, StoppedRun
from trainwright_trainer.job.job import Job
from trainwright_trainer.job.resume_command import resume_command
from trainwright_trainer.rundir import layout
from trainwright_trainer.runtime.signals import StopRequest
from trainwright_trainer.search import folder
from trainwright_trainer.search import result as results
from trainwright_trainer.search.displays import Display, display_for
from trainwright_trainer.search.log import SearchLog
from trainwright_trainer.search.objective import split_of
from trainwright_trainer.search.progress import SearchProgress
from trainwright_trainer.search.setting import check_package, log_of, plan_of, setting_of, trainer_lines
from trainwright_trainer.search.trial_run import Train
from trainwright_trainer.search.trials import Trial, ended
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.tasks.existing_run import existing_run
from trainwright_trainer.tasks.job_data import FilledCache, prepare_data
from trainwright_trainer.tasks.result import TaskSummary
from trainwright_trainer.tasks.tracking_address import check_tracking

_EARLY = "before the search began: nothing was written but the cache. Start it again."


def search(job: Job, console: Console, stop: StopRequest, train: Train) -> TaskSummary:
    """Search, or continue a search. Raises the exceptions that `errors.py` lists."""
    config: HyperoptConfig = search_of(job.spec)
    check_package(config)
    storage = storage_at(str(job.output), job.keys.artifacts)
    continues = folder.look(storage, job.plain(), existing_run(job))
    if continues and folder.is_done(storage, config.executor.model_dump()):
        more = "To search further, raise executor.num_samples or time_budget_s; to start anew, use --overwrite."
        raise AlreadyDone(f"{storage.location}: the search is done. {more}")
    settle(os.environ)
    from trainwright_trainer.search.ray_tune import room
    from trainwright_trainer.tasks.preprocess_on_ray import check_data_here, fill_on_ray

    room.check_this_machine(job)
    on_ray = job.spec.backend.type == "ray"
    if on_ray:
        check_data_here(job)
    else:
        check_tracking(job)
        content = _fill_cache(job, lambda: FilledCache.of(prepare_data(job)), console, stop)
    with room.connected(job, console.log):
        if on_ray:
            content = _fill_cache(job, lambda: fill_on_ray(job, console), console, stop)
        return _Searching(job, config, storage, console, stop).run(train, content, continues=continues)


def _fill_cache(job: Job, filled: Callable[[], FilledCache], console: Console, stop: StopRequest) -> str:
    """Encode the data once, and return their hash. The trials read them from the cache."""
    with stop.at_once(_EARLY):
        data = filled()
        console.log_notices(data.notices, Path(job.shown_dataset).name)
        console.log(data.line)
        _check_rows(search_of(job.spec), data.empty)
        return data.content


def _check_rows(config: HyperoptConfig, empty: Sequence[str]) -> None:
    """Raise `Mistakes` if no trial would have a score. `empty`: the parts without rows, which a trial may cut anew."""
    split = split_of(config.split)
    cuts = any(name == WHOLE or name.partition(".")[0] == "preprocessing" for name in config.parameters)
    if split in empty and not cuts:
        raise Mistakes.one("config.hyperopt.split", f"there are no {split} rows, so no trial would have a score")


class _Searching:
    """A search that is connected to Ray."""

    def __init__(self, job: Job, config: HyperoptConfig, storage: Storage, console: Console, stop: StopRequest) -> None:
        self.job, self.config, self.storage, self.console, self.stop = job, config, storage, console, stop

    def run(self, train: Train, content: str, *, continues: bool) -> TaskSummary:
        from trainwright_trainer.search.ray_tune import room, tuner

        concurrent = room.concurrent_trials(self.job)
        plan = plan_of(self.job.name, self.config, concurrent)
        self.console.log(plan.line, *trainer_lines(self.job))
        log = log_of(self.job, self.storage, content, self.console.log, continues=continues)
        display = display_for(plan, sys.stdout, as_json=self.job.options.json, quiet=self.console.is_quiet)
        setting = setting_of(self.job, train)
        progress = SearchProgress(plan, setting.place, self.console.report)
        tick = _shown(log, display, progress)
        self.storage.write(layout.JOB, [self.job.written().encode()])
        searching = tuner.Search(
            self.config, setting, self.storage, log, self.job.spec.seed, self.stop, tick, self.console.log
        )
        try:
            if not searching.is_closing():
                tuner.run(searching, concurrent)
        finally:
            display.close()
        self._raise_if_stopped(log.trials)
        progress.changed(log)
        best = results.best_of(log.trials, setting.objective)
        if not setting.storage(best.id).exists(f"{layout.MODEL}model.json"):
            self.console.log(f"trial {best.id} is the best and has no model yet: its run is completed")
            outcome = tuner.finish(searching, best)
            self._raise_if_stopped(log.trials)
            if outcome.kind != "done":
                raise outcome.error()
        results.write_result(self.job.name, self.config, self.storage, log, setting, best)
        progress.end(log)
        line = results.summary_line(self.config, log, setting, best)
        self.console.log(line, results.command_of_best(setting, best))
        return TaskSummary(line, model=self.job.output / "model", test=results.test_scores(setting, best))

    def _raise_if_stopped(self, trials: Sequence[Trial]) -> None:
        if self.stop:
            total = f" of {self.config.number_of_trials}" if self.config.number_of_trials else ""
            command = resume_command(self.job)
            raise StoppedRun(
                f"stopped by {self.stop.reason} after {ended(trials)}{total} trials. Go on with: {command}"
            )


def _shown(log: SearchLog, display: Display, progress: SearchProgress) -> Callable[[], None]:
    """Show each change of the trials. The result has to be called often: the time that is left changes by itself."""

    def changed(trial: Trial) -> None:
        display.changed(trial, log)
        progress.changed(log)

    def tick() -> None:
        display.tick(log)
        progress.tick(log)

    log.listen(changed)
    return tick
