"""The report of a search, as text. tests/trainwright_trainer/report looks at pages in a browser."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from trainwright_trainer.callbacks.events import Evaluated
from trainwright_trainer.search import figures
from trainwright_trainer.search.page import SearchReport, render
from trainwright_trainer.search.trials import Origin


def report(objective, trials, rounds=None):
    job = "metadata:\n  name: job-0002\n"
    score = max((trial.score for trial in trials if trial.state != "failed"), default=0.0)
    return SearchReport(
        "job <1>", objective, trials, ("rate",), 12.5, rounds or {}, job, score, {"roc_auc": 0.625}, {"torch": "2"}
    )


def rounds_of(*values):
    return [
        Evaluated(n, n, 1.0, 1.0, 0.1, {"validation": {"late": {"roc_auc": value}}}, best=True)
        for n, value in enumerate(values)
    ]


def some(trial, count=9):
    states = ("done", "stopped")
    return [
        trial(f"{n:04d}", [0.5 + n / 50], states[n % 2], rate=10.0**-n, word="ab"[n % 2], layers=n % 3)
        for n in range(1, count + 1)
    ]


def test_the_page_has_all_sections_and_no_script(objective, trial):
    trials = [*some(trial), trial("0010", kind="failed", line="column <x> is missing", rate=0.1, word="a", layers=1)]
    page = render(report(objective, trials, {"0009": rounds_of(0.5, 0.68), "0008": rounds_of(0.6)}))
    titles = re.findall("<h2>(.*?)</h2>", page)
    assert titles == [
        "Trials over time",
        "Parallel coordinates",
        "Importance of the parameters",
        "Learning curves",
        "Trials",
        "Configuration of the best trial, 0009",
    ]
    assert "<script" not in page
    assert "job &lt;1&gt;" in page
    assert "column &lt;x&gt; is missing" in page
    assert "<dt>test roc_auc, best trial</dt><dd>0.6250</dd>" in page
    assert "name: job-0002" in page


def test_the_lead_has_the_score_of_the_model_beside_that_of_the_stopped_trial(objective, trial):
    page = render(replace(report(objective, some(trial)), model_score=0.7))
    assert "<strong>roc_auc 0.7000</strong>" in page
    assert "<dt>score when stopped</dt><dd>0.6800</dd>" in page
    assert "score when stopped" not in render(report(objective, some(trial)))


def test_the_table_names_the_trial_that_another_one_went_on_from(objective, trial):
    one, two = some(trial, 2)
    page = render(report(objective, [one, replace(two, origin=Origin("0001", "0000000005-1", "0003", 1))]))
    assert "<td>done, from trial 0001</td>" in page


def test_sections_without_content_are_left_out(objective, trial):
    page = render(report(objective, some(trial, 2)))
    assert "Importance" not in page
    assert "Learning curves" not in page
    assert "The best of 2 trials, 0002, reaches" in page


def test_one_trial_makes_a_page(objective, trial):
    assert "The best of 1 trial" in render(report(objective, some(trial, 1), {"0001": rounds_of(0.5)}))


def test_a_much_worse_score_is_moved_to_the_edge(objective):
    shown = figures.shown_scores([0.90, 0.91, 0.92, 0.10], objective)
    assert shown[:3] == [0.90, 0.91, 0.92]
    assert 0.8 < shown[3] < 0.9
    assert figures.shown_scores([0.5, 0.5], objective) == [0.5, 0.5]


def test_a_logarithmic_space_has_a_logarithmic_axis(objective, trial):
    trials = [trial(f"{n:04d}", [n / 10], rate=rate) for n, rate in enumerate((0.001, 0.01, 0.1), 1)]

    def heights(*logarithmic):
        lines = re.findall(r'd="M([^"]*)"', figures.parallel(trials, objective, trials[:1], logarithmic))
        return sorted({float(re.findall(r"[\d.]+", line)[1]) for line in lines})

    low, middle, high = heights("rate")
    assert middle - low == pytest.approx(high - middle, abs=0.2)
    low, middle, high = heights()
    assert middle - low > 5 * (high - middle)
