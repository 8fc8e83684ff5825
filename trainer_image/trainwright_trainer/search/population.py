"""Population based training as functions of the trials: when a trial waits, and when another one takes its place.

A trial with a perturbed value is a trial of its own. It begins with the checkpoint of a better trial (its origin), in
the place of a worse one, which ends. Each decision depends on the events up to one of them only. So a search that
continues after a kill decides the same again, and nothing but the log of the trials is stored.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from trainwright_trainer.search.objective import Objective
from trainwright_trainer.search.trials import Score, Trial, replaced

Trials = Sequence[Trial]


@dataclass(frozen=True)
class Rules:
    """`measure`: the field of a score that is its time; `interval`: the time from one perturbation to the next.

    `burn_in`: the time before the first one; `fraction`: the share of the best trials, and of the worst; `together`:
    all trials wait for each other; `members`: the number of trials without an origin.
    """

    measure: str
    interval: float
    burn_in: float
    fraction: float
    together: bool
    members: int
    objective: Objective

    def generation_of(self, score: Score) -> int:
        """The number of perturbations that are due up to a score."""
        left = getattr(score, self.measure) - max(self.interval, self.burn_in)
        return 0 if left < 0 else 1 + int(left // self.interval)

    def generation(self, trial: Trial) -> int:
        return self.generation_of(trial.scores[-1]) if trial.scores else _first(trial)

    def is_due(self, trial: Trial) -> bool:
        """True if a perturbation is due at the trial's last score. There is none where no step follows."""
        if not trial.scores or trial.scores[-1].is_last:
            return False
        before = self.generation_of(trial.scores[-2]) if len(trial.scores) > 1 else _first(trial)
        return self.generation(trial) > before


def _first(trial: Trial) -> int:
    return 0 if trial.origin is None else trial.origin.generation


def alive(trials: Iterable[Trial]) -> list[Trial]:
    """The trials that have not ended, and in whose place no other one goes on."""
    known = list(trials)
    gone = replaced(known)
    return [trial for trial in known if trial.end is None and trial.id not in gone]


def is_full(trials: Iterable[Trial], rules: Rules) -> bool:
    """True if all members have begun."""
    return sum(trial.origin is None for trial in trials) >= rules.members


def may_run(trials: Trials, rules: Rules, due: Iterable[tuple[Trial, Trials]]) -> list[Trial]:
    """The trials that train or wait for a free place, in the order in which they get one: the least trained first.

    `due`: the `exchanges`, whose losers wait for their end.
    """
    losers = {trial.id for trial, _ in due}
    rest = [trial for trial in alive(trials) if trial.id not in losers]
    if rules.together:
        rest = [trial for trial in rest if not waits_for_others(trial, trials, rules)]
    return sorted(rest, key=lambda trial: (rules.generation(trial), trial.id))


def waits_for_others(trial: Trial, trials: Trials, rules: Rules) -> bool:
    """True if all trials wait for each other, and others have not come as far as this one."""
    return rules.together and rules.generation(trial) > common_generation(trials, rules)


def common_generation(trials: Trials, rules: Rules) -> int:
    """The generation that all living trials have reached. Before all members have begun it is 0."""
    reached = [rules.generation(trial) for trial in alive(trials)]
    return min(reached, default=0) if is_full(trials, rules) else 0


def exchanges(trials: Trials, rules: Rules) -> list[tuple[Trial, Trials]]:
    """The living trials that have to give up their place, each with the trials of which one goes on there."""
    found = [(trial, _winners(trial, trials, rules)) for trial in alive(trials)]
    return [(trial, winners) for trial, winners in found if winners]


def _winners(trial: Trial, trials: Trials, rules: Rules) -> Trials:
    """The best trials, if the trial is one of the worst at the event that decides; else none."""
    moment = _moment(trial, trials, rules)
    if moment is None:
        return ()
    then = alive(_up_to(trials, moment))
    scored = [one for one in then if one.scores and not one.scores[-1].is_last]
    order = sorted(scored, key=lambda one: (rules.objective.key(_latest(one)), one.id))
    count = math.ceil(len(order) * rules.fraction)
    count = count if 2 * count <= len(order) else len(order) // 2
    worst = {one.id for one in order[len(order) - count :]}
    return order[:count] if trial.id in worst else ()


def _moment(trial: Trial, trials: Trials, rules: Rules) -> int | None:
    """The order of the event that decides on a trial; None if nothing is due.

    It is the trial's own last score, or the event with which all trials have reached one generation.
    """
    if not rules.together:
        return trial.scores[-1].order if rules.is_due(trial) else None
    now = common_generation(trials, rules)
    if _first(trial) >= now or not trial.scores or trial.scores[-1].is_last:
        return None
    moment = max(_arrival(one, trials, rules, now) for one in trials)
    return moment if trial.scores[-1].order <= moment else None


def _arrival(trial: Trial, trials: Trials, rules: Rules, generation: int) -> int:
    """The order of the event with which a trial has reached a generation, or has left the population."""
    if _first(trial) >= generation:
        return 0
    own = (score.order for score in trial.scores if rules.generation_of(score) >= generation)
    ends = [] if trial.end is None else [trial.end.order]
    successors = [one.order for one in trials if one.origin is not None and one.origin.replaces == trial.id]
    return next(own, min([*ends, *successors], default=0))


def _up_to(trials: Trials, order: int) -> list[Trial]:
    """The trials as they were after the event with this order."""
    return [
        replace(
            trial,
            scores=tuple(score for score in trial.scores if score.order <= order),
            end=trial.end if trial.end is not None and trial.end.order <= order else None,
        )
        for trial in trials
        if trial.order <= order
    ]


def _latest(trial: Trial) -> float:
    latest = trial.scores[-1].latest
    return math.nan if latest is None else latest
