"""The report: one self-contained HTML file to read, mail and print."""

from __future__ import annotations

from trainwright_trainer.report import head, importance, ranks, sections
from trainwright_trainer.report import outputs as of_outputs
from trainwright_trainer.report.data import ReportData
from trainwright_trainer.report.frame import framed
from trainwright_trainer.report.markup import Markup, element, join


def render(data: ReportData) -> str:
    """The page as text: no script, no link, no request; about 50 kB plus 1 kB per feature."""
    return framed(f"{data.title} · Trainwright report", _body(data))


def _body(data: ReportData) -> Markup:
    versions = " · ".join(f"{name} {version}" for name, version in data.versions.items())
    main = element(
        "main",
        head.head(data),
        sections.learning_curves(data),
        *(of_outputs.output(data, output) for output in data.outputs),
        importance.importance(data),
        sections.features(data),
        sections.progress(data),
        ranks.ranks(data),
        sections.about(data),
        sections.config(data.resolved),
    )
    return join(main, element("footer", versions) if versions else None)
