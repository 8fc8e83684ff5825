"""The reports of a user's own train function, over all attempts of a run, and the file that holds them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from trainwright_trainer.callbacks.events import Event, FunctionStarted, Reported
from trainwright_trainer.callbacks.json_lines import nan_to_none
from trainwright_trainer.rundir import layout, shared_files
from trainwright_trainer.rundir.attempt import Attempt


class Reports:
    """A function that goes on from a checkpoint repeats the reports after it, so these are dropped."""

    def __init__(self, reports: Sequence[Reported] = ()) -> None:
        self._reports = list(reports)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Reports:
        """Read the reports of earlier attempts. A null metric becomes NaN."""
        return cls([_report(row) for row in content["reports"]])

    @property
    def all(self) -> Sequence[Reported]:
        return tuple(self._reports)

    def go_on_from(self, checkpoint: str | None) -> None:
        """Drop the reports after that with this checkpoint; all of them without a checkpoint."""
        places = [place for place, report in enumerate(self._reports, start=1) if report.checkpoint == checkpoint]
        del self._reports[places[-1] if checkpoint is not None and places else 0 :]

    def add(self, seconds: float, metrics: Mapping[str, float], checkpoint: str | None) -> Reported:
        """Add a report. `seconds`: since the function began in this attempt, or in these workers."""
        made = Reported(len(self._reports) + 1, seconds, metrics, checkpoint)
        self._reports.append(made)
        return made

    def best(self, metric: str, order: str) -> Reported | None:
        """The report with the best value, the first of equal ones; None if no report has the metric."""
        with_it = [report for report in self._reports if metric in report.metrics]
        sign = 1 if order == "min" else -1
        return min(with_it, key=lambda report: sign * report.metrics[metric], default=None)

    def to_json(self) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = nan_to_none([vars(report) for report in self._reports])
        return rows


class ReportsFile:
    """A listener that keeps reports.json up to date."""

    def __init__(self, attempt: Attempt, reports: Reports) -> None:
        self._attempt, self._reports = attempt, reports
        self._name = ""

    def on_event(self, event: Event) -> None:
        if isinstance(event, FunctionStarted):
            self._name = event.name
        elif isinstance(event, Reported):
            body = {"name": self._name, "attempt": self._attempt.number, "reports": self._reports.to_json()}
            shared_files.write_reports(self._attempt, {"format": layout.FORMAT, **body})

    def close(self) -> None:
        """Does nothing: the file is complete after every report."""


def reports_of(attempt: Attempt) -> Reports:
    """The reports of the earlier attempts of the run."""
    before = shared_files.read_reports(attempt)
    return Reports() if before is None else Reports.from_json(before)


def _report(row: Mapping[str, Any]) -> Reported:
    metrics = {name: float("nan") if value is None else value for name, value in row["metrics"].items()}
    return Reported(row["number"], row["seconds"], metrics, row["checkpoint"])
