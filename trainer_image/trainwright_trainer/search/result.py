"""The result of a search: the best trial, its model as that of the job, the report, and the last lines."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from trainwright_api.config.hyperopt import HyperoptConfig
from trainwright_api.problems import Mistakes
from trainwright_trainer.callbacks import formats
from trainwright_trainer.callbacks.events import Scores
from trainwright_trainer.callbacks.history import History
from trainwright_trainer.errors import EnvironmentFailure
from trainwright_trainer.job.versions import versions
from trainwright_trainer.rundir import json_text, layout
from trainwright_trainer.search import folder, page
from trainwright_trainer.search.log import SearchLog
from trainwright_trainer.search.objective import Objective, split_of
from trainwright_trainer.search.trial_run import TrialSetting, history, rounds_before
from trainwright_trainer.search.trials import Trial, ranked, stopped
from trainwright_trainer.storage.base import Storage


def best_of(trials: Sequence[Trial], objective: Objective) -> Trial:
    """The best trial. Raises the most frequent failure if no trial has a score, or `Mistakes` if there is none."""
    best = next(iter(ranked(trials, objective)), None)
    if best is not None:
        return best
    if any(trial.state == "done" for trial in trials):
        line = f"{objective.name} has no value in any trial: there are no such rows, or they do not define it"
        raise Mistakes.one("config.hyperopt.metric", line)
    lines = Counter(trial.end.line for trial in trials if trial.end is not None and trial.end.line)
    if not lines:
        raise Mistakes.one("config.hyperopt.executor.time_budget_s", "it is over before a trial has a score: raise it")
    line, count = lines.most_common(1)[0]
    text = f"all {formats.counted(len(trials), 'trial')} failed, {count} of them with: {line}"
    is_mistake = all(trial.end.mistake for trial in trials if trial.end is not None)
    raise Mistakes.one("", text) if is_mistake else EnvironmentFailure(text)


def write_result(
    name: str, config: HyperoptConfig, storage: Storage, log: SearchLog, setting: TrialSetting, best: Trial
) -> None:
    """Write the model and the report of the search. The result comes last: with it, the search is done."""
    folder.copy_model(storage, setting.storage(best.id))
    trials, best = [stopped(trial) for trial in log.trials], stopped(best)
    report = _report(name, config, trials, log.seconds, setting, best)
    storage.write(layout.REPORT, [page.render(report).encode()])
    executor = config.executor.model_dump()
    folder.write_result(storage, trials, setting.objective, best, report.model_score, executor)


def model_score(setting: TrialSetting, best: Trial) -> float:
    """The score of the best trial's model. It differs from the trial's if the run of a stopped trial was completed."""
    if best.state == "done" or best.is_trained:
        return best.score
    own = History.from_json(history(setting.storage(best.id))).rounds
    return setting.objective.of_rounds([*rounds_before(setting, best.origin), *own])


def _report(
    name: str, config: HyperoptConfig, trials: Sequence[Trial], seconds: float, setting: TrialSetting, best: Trial
) -> page.SearchReport:
    first = ranked(trials, setting.objective)[: page.BEST]
    histories = {trial.id: history(setting.storage(trial.id)) for trial in first}
    end = histories[best.id]["end"]
    return page.SearchReport(
        name=name,
        objective=setting.objective,
        trials=trials,
        logarithmic=frozenset(key for key, parameter in config.parameters.items() if parameter.is_logarithmic),
        seconds=seconds,
        rounds={trial: History.from_json(content).rounds for trial, content in histories.items()},
        job=setting.storage(best.id).read(layout.JOB).decode(),
        model_score=model_score(setting, best),
        test=end["test"].get(setting.objective.feature, {}) if end else {},
        versions=versions(),
    )


def summary_line(config: HyperoptConfig, log: SearchLog, setting: TrialSetting, best: Trial) -> str:
    objective, output = setting.objective, setting.output
    scores = [trial.score for trial in ranked(log.trials, objective)]
    score = model_score(setting, best)
    stopped = "" if score == best.score else f"{formats.score(best.score)} when the search stopped it; "
    worst = f"({stopped}the worst trial: {formats.score(scores[-1])})"
    span = f"{formats.score(score)} {worst}{_evaluated(config, setting, best)}"
    where = f"model {output / 'model'} · report {output / layout.REPORT}"
    return f"done in {formats.duration(log.seconds)} · best trial {best.id}: {objective.name} {span} · {where}"


def command_of_best(setting: TrialSetting, best: Trial) -> str:
    """The command that trains the best trial alone. The last bits of its weights depend on the number of threads."""
    words = ["trainwright", "train", str(setting.place(best.id) / layout.JOB)]
    if setting.backend == "local":
        resolved = json_text.parse(setting.storage(best.id).read(layout.RESOLVED))["resolved"]
        words += [] if resolved["threads"] is None else ["--threads", str(resolved["threads"])]
    return f"to train the best trial alone, to the same weights: {shlex.join(words)}"


def test_scores(setting: TrialSetting, best: Trial) -> Scores:
    end = history(setting.storage(best.id))["end"] or {}
    found: Scores = end.get("test", {})
    return found


def _evaluated(config: HyperoptConfig, setting: TrialSetting, best: Trial) -> str:
    """The score of the best trial on `eval_split`, if that is another split than the search's."""
    found = replace(setting.objective, split=split_of(config.eval_split))
    if found.split == setting.objective.split:
        return ""
    content = history(setting.storage(best.id))
    if found.split == "test":
        score = found.of_scores(content["end"]["test"])
    else:
        score = found.of_rounds(History.from_json(content).rounds)
    return f", {found.split} {formats.score(score)}"
