"""The task hyperopt: prepare the data once, run the trials, and make the best trial's model the job's model."""

from __future__ import annotations

import os
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from trainwright_api.config.hyperopt import HyperoptConfig
from trainwright_api.problems import Mistakes
from trainwright_api.resource.canonical import canonical
from trainwright_api.resource.size import workers_per_trial
from trainwright_trainer.backends.ray.environment import settle
from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.console import Console
from trainwright_trainer.callbacks.history import History
from trainwright_trainer.errors import AlreadyDone, EnvironmentFailure, StoppedRun
from trainwright_trainer.job.job import Job
from trainwright_trainer.job.versions import versions
from trainwright_trainer.rundir import json_text, layout
from trainwright_trainer.runtime.cpus import asked_threads
from trainwright_trainer.runtime.signals import StopRequest
from trainwright_trainer.search import folder, page
from trainwright_trainer.search.displays import display_for
from trainwright_trainer.search.log import SearchLog, Turn
from trainwright_trainer.search.objective import Objective, split_of
from trainwright_trainer.search.progress import SearchProgress
from trainwright_trainer.search.trial_run import Train, TrialSetting, history
from trainwright_trainer.search.trials import Trial, ended, ranked
from trainwright_trainer.search.words import SearchPlan
from trainwright_trainer.storage.base import Storage
from trainwright_trainer.storage.registry import storage_at
from trainwright_trainer.tasks.existing_run import existing_run
from trainwright_trainer.tasks.job_data import FilledCache, prepare_data
from trainwright_trainer.tasks.result import TaskSummary

_EARLY = "before the search began: nothing was written but the cache. Start it again."


def search(job: Job, console: Console, stop: StopRequest, train: Train) -> TaskSummary:
    """Search, or continue a search. Raises the exceptions that `errors.py` lists."""
    assert job.spec.config is not None
    config: Any = job.spec.config.hyperopt
    storage = storage_at(str(job.output), job.keys.artifacts)
    continues = folder.look(storage, job.plain(), existing_run(job))
    asked = config.executor.model_dump()
    if continues and folder.is_done(storage, asked):
        more = "To search further, raise executor.num_samples or time_budget_s; to start anew, use --overwrite."
        raise AlreadyDone(f"{storage.location}: the search is done. {more}")
    on_ray = job.spec.backend.type == "ray"
    if not on_ray:
        _fill_cache(job, lambda: FilledCache.of(prepare_data(job)), console, stop)
    settle(os.environ)
    from trainwright_trainer.search.ray_tune import tuner
    from trainwright_trainer.tasks.preprocess_on_ray import fill_on_ray

    with tuner.connected(job, console.log):
        if on_ray:
            _fill_cache(job, lambda: fill_on_ray(job, console), console, stop)
        return _Searching(job, config, storage, console, stop).run(train, continues=continues)


def _fill_cache(job: Job, filled: Callable[[], FilledCache], console: Console, stop: StopRequest) -> None:
    """Encode the data once. The trials read them from the cache."""
    with stop.at_once(_EARLY):
        data = filled()
        console.log_notices(data.notices, Path(job.dataset).name)
        console.log(data.line)


class _Searching:
    """A search that is connected to Ray."""

    def __init__(self, job: Job, config: HyperoptConfig, storage: Storage, console: Console, stop: StopRequest) -> None:
        self.job, self.config, self.storage, self.console, self.stop = job, config, storage, console, stop
        self.objective = Objective.of(config)

    def run(self, train: Train, *, continues: bool) -> TaskSummary:
        from trainwright_trainer.search.ray_tune import tuner

        concurrent = tuner.concurrent_trials(self.job)
        plan = self._plan(self.config.number_of_trials, concurrent)
        self.console.log(plan.line, *self._trainer_lines())
        display = display_for(plan, sys.stdout, as_json=self.job.options.json, quiet=self.console.is_quiet)
        log = self._log(continues=continues)
        setting = self._setting(train)
        progress = SearchProgress(plan, setting.place, self.console.report)

        def changed(trial: Trial) -> None:
            display.changed(trial, log)
            progress.changed(log)

        def tick() -> None:
            display.tick(log)
            progress.tick(log)

        log.listen(changed)
        self.storage.write(layout.JOB, [self.job.written().encode()])
        searching = tuner.Search(
            self.config,
            setting,
            self.storage,
            log,
            self.job.spec.seed,
            self.stop,
            tick,
            self.console.log,
        )
        try:
            if not searching.is_closing():
                tuner.run(searching, concurrent)
        finally:
            display.close()
        if self.stop:
            raise StoppedRun(self._stopped_line(log.trials, plan))
        progress.changed(log)
        best = self._best(log.trials)
        if not setting.storage(best.id).exists(f"{layout.MODEL}model.json"):
            self.console.log(f"trial {best.id} is the best and was stopped: its run is completed")
            outcome = tuner.finish(searching, best)
            if outcome.kind == "stopped":
                raise StoppedRun(self._stopped_line(log.trials, plan))
            if outcome.kind != "done":
                raise outcome.error()
        self._write_result(log, setting, best)
        progress.end(log)
        return self._summary(best, log, setting)

    def _write_result(self, log: SearchLog, setting: TrialSetting, best: Trial) -> None:
        """Write the model and the report of the search. The result comes last: with it, the search is done."""
        folder.copy_model(self.storage, setting.storage(best.id))
        self._write_report(log, setting, best)
        folder.write_result(self.storage, log.trials, self.objective, best, self.config.executor.model_dump())

    def _write_report(self, log: SearchLog, setting: TrialSetting, best: Trial) -> None:
        histories = {
            trial.id: history(setting.storage(trial.id)) for trial in ranked(log.trials, self.objective)[: page.BEST]
        }
        end = histories[best.id]["end"]
        found = page.SearchReport(
            name=self.job.name,
            objective=self.objective,
            trials=log.trials,
            seconds=log.seconds,
            rounds={name: History.from_json(content).rounds for name, content in histories.items()},
            job=setting.storage(best.id).read(layout.JOB).decode(),
            test=end["test"].get(self.objective.feature, {}) if end else {},
            versions=versions(),
        )
        self.storage.write(layout.REPORT, [page.render(found).encode()])

    def _plan(self, total: int | None, concurrent: int) -> SearchPlan:
        executor = self.config.executor
        return SearchPlan(
            self.job.name,
            self.objective,
            tuple(self.config.parameters),
            total,
            executor.time_budget_s,
            concurrent,
            self.config.search_alg.type,
            executor.scheduler.type,
        )

    def _trainer_lines(self) -> list[str]:
        """A notice if the values of the trials bring Ludwig's defaults into a file without a trainer section."""
        assert self.job.spec.config is not None
        brings = any(name.partition(".")[0] == "trainer" for name in self.config.parameters)
        if "trainer" in self.job.spec.config.model_fields_set or not brings:
            return []
        return ["the file has no trainer section: the trials take Ludwig's defaults for it, and not the recipe"]

    def _log(self, *, continues: bool) -> SearchLog:
        turn = Turn(self.storage, self.job.attempt)
        if not continues:
            return SearchLog.begin(self.storage, folder.about_of(self.job.plain(), self.job.name), turn=turn)
        log = SearchLog.read(self.storage, turn=turn)
        self.console.log(f"the search goes on: {formats.counted(ended(log.trials), 'trial')} of it have ended")
        return log

    def _setting(self, train: Train) -> TrialSetting:
        job, cpus = self.job, self.config.executor.cpu_resources_per_trial
        in_pods = job.attempt is not None
        # In pods Ray sets OMP_NUM_THREADS for the driver. The trials find the user's value in their own pods.
        asked = job.options.threads or (None if in_pods else asked_threads(os.environ))
        is_alone = workers_per_trial(job.spec) == 1
        threads = asked or (1 if is_alone and cpus == 1 else None)
        resource = canonical(job.resource)
        resource["spec"] = {**resource["spec"], "dataset": job.dataset, "seed": job.spec.seed}
        return TrialSetting(
            resource,
            job.name,
            job.output,
            job.keys.artifacts,
            self.objective,
            threads,
            train,
            "local" if is_alone else "ray",
            cpus if is_alone else None,
        )

    def _best(self, trials: Sequence[Trial]) -> Trial:
        """The best trial. Raises the most frequent failure if no trial has a score."""
        best = next(iter(ranked(trials, self.objective)), None)
        if best is not None:
            return best
        lines = Counter(trial.end.line for trial in trials if trial.end is not None and trial.end.line)
        if not lines:
            raise Mistakes.one(
                "config.hyperopt.executor.time_budget_s", "it is over before a trial has a score: raise it"
            )
        line, count = lines.most_common(1)[0]
        text = f"all {formats.counted(len(trials), 'trial')} failed, {count} of them with: {line}"
        is_mistake = all(trial.end.mistake for trial in trials if trial.end is not None)
        raise Mistakes.one("", text) if is_mistake else EnvironmentFailure(text)

    def _summary(self, best: Trial, log: SearchLog, setting: TrialSetting) -> TaskSummary:
        objective, output = self.objective, self.job.output
        scores = [trial.score for trial in ranked(log.trials, objective)]
        span = (
            f"{formats.score(scores[0])} (the worst trial: {formats.score(scores[-1])}){self._evaluated(best, setting)}"
        )
        where = f"model {output / 'model'} · report {output / layout.REPORT}"
        line = f"done in {formats.duration(log.seconds)} · best trial {best.id}: {objective.name} {span} · {where}"
        words = ["trainwright", "train", str(setting.place(best.id) / layout.JOB)]
        threads = _threads_of(setting.storage(best.id)) if setting.backend == "local" else None
        words += [] if threads is None else ["--threads", str(threads)]
        self.console.log(line, f"to train the best trial alone, to the same weights: {shlex.join(words)}")
        end = history(setting.storage(best.id))["end"] or {}
        return TaskSummary(line, model=output / "model", test=end.get("test", {}))

    def _evaluated(self, best: Trial, setting: TrialSetting) -> str:
        """The score of the best trial on `eval_split`, if that is another split than the search's."""
        found = replace(self.objective, split=split_of(self.config.eval_split))
        if found.split == self.objective.split:
            return ""
        content = history(setting.storage(best.id))
        if found.split == "test":
            score = found.of_scores(content["end"]["test"])
        else:
            score = found.of_rounds(History.from_json(content).rounds)
        return f", {found.split} {formats.score(score)}"

    def _stopped_line(self, trials: Sequence[Trial], plan: SearchPlan) -> str:
        options = {name: getattr(self.job.options, name) for name in ("dataset", "backend", "seed", "threads")}
        given = [word for name, value in options.items() if value is not None for word in (f"--{name}", str(value))]
        output = ["--output", str(self.job.output), "--resume"]
        command = shlex.join(["trainwright", "hyperopt", str(self.job.path), *given, *output])
        total = f" of {plan.total}" if plan.total else ""
        return f"stopped by {self.stop.reason} after {ended(trials)}{total} trials. Go on with: {command}"


def _threads_of(run: Storage) -> int | None:
    """The number of threads of a run, on which its last bits depend."""
    found: int | None = json_text.parse(run.read(layout.RESOLVED))["resolved"]["threads"]
    return found
