"""The analyses of a report, from a whole run."""

from __future__ import annotations

import html
import re
from datetime import UTC, datetime
from pathlib import Path

from trainwright_trainer.job.job import read_job
from trainwright_trainer.job.options import Options
from trainwright_trainer.tasks.report_facts import facts_of

ANALYSES = ("interval", "Worst rows", "Importance of the inputs")


def text_of(page: Path) -> str:
    """The words of a page."""
    return html.unescape(re.sub(r"<[^>]+>", " ", page.read_text()))


def test_a_report_has_all_analyses(workplace):
    workplace.done("train", workplace.job())
    words = text_of(workplace.folder / "out/job/report.html")
    for heading in (*ANALYSES, "F1", "Threshold", "Learning rate", "SHA-256 of the data", "data.csv"):
        assert heading in words


def test_without_time_they_are_left_out(workplace):
    workplace.done("train", workplace.job(lambda job: job.update(report={"maxSeconds": 0})))
    words = text_of(workplace.folder / "out/job/report.html")
    for heading in ANALYSES:
        assert heading not in words
    assert "F1" in words


def test_an_evaluation_has_them_too(workplace):
    workplace.done("train", workplace.job())
    workplace.done("evaluate", "job.yaml", "--output", "evaluated")
    words = text_of(workplace.folder / "evaluated/evaluation.html")
    for heading in (*ANALYSES, "F1", "SHA-256 of the data"):
        assert heading in words


def test_facts_of_a_run(workplace):
    job = read_job("train", Path(workplace.job()), Options(output="there"))
    facts = facts_of(job, "data.csv", "9f3c", now=datetime(2026, 11, 25, 0, 31, tzinfo=UTC))
    assert facts["date"] == "2026-11-25 00:31 UTC"
    assert (facts["data set"], facts["SHA-256 of the data"], facts["folder"]) == ("data.csv", "9f3c", "there")
    assert " CPU" in facts["machine"]
    assert "torch " in facts["versions"]
    assert "SHA-256 of the data" not in facts_of(job, "data.csv", "")


def test_rows_of_later_blocks_have_their_own_values(workplace, monkeypatch):
    """The worst rows of new data in several blocks are those of the whole table."""
    monkeypatch.setattr("trainwright_trainer.data.rows.BLOCK_ROWS", 64)
    workplace.done("train", workplace.job())
    lines = (workplace.folder / "data.csv").read_text().splitlines()
    header = [*lines[0].split(","), "place"]
    workplace.data(",".join(header), *(f"{line},{i}" for i, line in enumerate(lines[1:], 1)), name="new.csv")
    workplace.done("evaluate", "job.yaml", "--dataset", "new.csv", "--output", "evaluated")
    words = text_of(workplace.folder / "evaluated/evaluation.html")
    numbers = [int(number.replace(",", "")) for number in re.findall(r" row ([\d,]+) ", words)]
    assert max(numbers) > 64
    for number in numbers:
        size = lines[number].split(",")[header.index("size")]
        card = words[words.index(f" row {number} ") :][:400]
        assert size in card


def test_baselines_are_in_the_table_of_scores(workplace):
    ended = workplace.done("train", workplace.job(lambda job: job.update(report={"baselines": True, "maxSeconds": 0})))
    assert "baselines of late, test roc_auc: this model 0." in ended.out
    words = text_of(workplace.folder / "out/job/report.html")
    assert "linear model" in words
    assert "boosted trees" in words
