from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from html.parser import HTMLParser
from typing import Any

from trainwright_trainer.callbacks.events import RankRound
from trainwright_trainer.report import page
from trainwright_trainer.report.data import FeatureSummary, ReportData

Make = Callable[..., Any]
VOID = {"meta", "link", "br", "hr", "img"}


class Outline(HTMLParser):
    """Checks that elements close in order, and collects what is in the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.words.append(data)


def test_every_kind_of_report_is_well_formed_and_small(any_report: ReportData) -> None:
    text = page.render(any_report)
    outline = Outline(text)
    assert outline.open == []
    assert len(text.encode()) < 2_000_000
    assert not [tag for tag, _ in outline.tags if tag in {"script", "iframe", "object", "a"}]
    assert all(str(attrs["src"]).startswith("data:image/") for tag, attrs in outline.tags if tag == "img")
    assert "nan" not in "".join(outline.words).lower().replace("finance", "")


def test_it_asks_for_nothing_outside_itself(any_report: ReportData) -> None:
    text = page.render(any_report)
    assert "http:" not in text
    assert "https:" not in text
    assert "url(" not in text
    assert "default-src 'none'" in text


def test_it_opens_with_the_score(make_report: Make) -> None:
    words = "".join(Outline(page.render(make_report())).words)
    score = words.index("On 67,375 test rows, late (binary) reaches roc_auc 0.7481 (0.7432\u00a0to\u00a00.7531).")
    order = ["Learning curves", "late on test rows", "F1support", "Confusion matrix", "ROC", "Precision and recall"]
    order += ["Threshold", "Calibration", "Worst rows", "Importance of the inputs", "Features"]
    order += ["Learning rate and throughput", "This run", "Resolved config"]
    places = [words.index(name) for name in order]
    assert [score, *places] == sorted([score, *places])


def test_each_rank_has_a_line_and_the_slow_one_is_named(make_report: Make, make_rounds: Make) -> None:
    def ranks(slow: float) -> tuple[RankRound, ...]:
        common = {"step_seconds": 0.05, "loader_seconds": 0.001, "memory_bytes": 812_000_000}
        return (
            RankRound(rank=0, host="w-a", own_seconds=0.02, gpu_memory_bytes=1_400_000_000, gpu_use=0.41, **common),
            RankRound(rank=1, host="w-b", own_seconds=slow, gpu_memory_bytes=1_500_000_000, **common),
        )

    elsewhere, *rest = make_rounds(3)
    history = [
        replace(elsewhere, ranks=(replace(ranks(9.0)[0], host="elsewhere"),)),
        *(replace(one, ranks=ranks(slow)) for one, slow in zip(rest, (0.06, 0.076), strict=True)),
    ]
    words = " | ".join(Outline(page.render(make_report(history=history))).words)
    assert "Rank 1 (w-b) delays the others: its gradients take 68 ms a step" in words
    assert "rank | host | step | own part | loader | memory | GPU memory | GPU busy | 1 | w-b" in words
    assert "0 | w-a | 50 ms | 20 ms | 1.0 ms | 812 MB | 1.4 GB | 41 %" in words
    assert "1 | w-b | 50 ms | 68 ms | 1.0 ms | 812 MB | 1.5 GB | –" in words
    on_cpus = [replace(history[-1], ranks=tuple(replace(one, gpu_use=None, gpu_memory_bytes=None) for one in ranks(0)))]
    assert "GPU" not in page.render(make_report(history=on_cpus))


def test_it_is_accessible(any_report: ReportData) -> None:
    outline = Outline(page.render(any_report))
    assert ("html", {"lang": "en"}) in outline.tags
    tags = [tag for tag, _ in outline.tags]
    assert tags.count("h1") == 1
    assert tags.count("svg") == tags.count("title") - 1
    assert all(attributes.get("role") == "img" for tag, attributes in outline.tags if tag == "svg")
    assert all("scope" in attributes for tag, attributes in outline.tags if tag == "th")


def test_names_are_text_wherever_they_stand(make_crowded: Make) -> None:
    outline = Outline(page.render(make_crowded()))
    assert "script" not in [tag for tag, _ in outline.tags]
    assert "<script>alert('x')</script> & \"late\"" in "".join(outline.words)


def test_an_evaluation_has_no_curves(make_report: Make) -> None:
    data = make_report(started=None, history=(), ended=None, part="given")
    words = "".join(Outline(page.render(data)).words)
    assert "Evaluation report" in words
    assert "On 67,375 rows of new data" in words
    assert "Learning curves" not in words


def test_with_one_output_its_loss_is_drawn_once(make_report: Make) -> None:
    assert page.render(make_report()).count("loss by epoch</title>") == 1


def test_too_many_features_are_cut_and_the_rest_is_reported(make_report: Make) -> None:
    many = [FeatureSummary(f"f{i}", "number", "input", {}, [("0", 1)] * 20) for i in range(1000)]
    text = page.render(make_report(features=many, resolved={"settings": ["x" * 100] * 20_000}))
    assert len(text.encode()) < 2_000_000
    assert "600 more features are in model/statistics.json." in text
    assert "the rest is in model/config.json" in text


def test_an_output_without_scores_is_reported(make_report: Make) -> None:
    (output,) = make_report().outputs
    assert "late: there are no scores." in page.render(make_report(outputs=[replace(output, scores={})]))


def test_dollars_in_names_are_no_placeholders(make_report: Make) -> None:
    assert "<h1>$body ${title} $</h1>" in page.render(make_report(title="$body ${title} $"))


def test_it_imports_nothing_heavy() -> None:
    code = (
        "import sys, trainwright_trainer.report.page;"
        "print(sorted({'jinja2', 'torch', 'numpy', 'matplotlib', 'rich', 'pyarrow'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def words_of(data: ReportData) -> str:
    return " | ".join(Outline(page.render(data)).words)


def test_a_score_has_its_interval(make_report: Make) -> None:
    words = words_of(make_report())
    assert "roc_auc\u00a0↑ | 0.7481 (0.7432\u00a0to\u00a00.7531) | 0.5000" in words
    assert "precision\u00a0↑ | 0.6100 | –" in words


def test_a_row_is_shown_with_its_most_important_values(make_report: Make) -> None:
    words = words_of(make_report())
    assert "row 1  | loss 6.000 | true on time, predicted late (99 %) | distance_0 |  0 | " in words
    assert "row 8,265" in words
    assert "4 more columns left out." in words
    assert "The file was not read far enough for the values of all rows." in words
    assert words.index("distance_13") < words.index("distance_14")


def test_the_importance_has_a_bar_for_each_input(make_report: Make) -> None:
    words = words_of(make_report())
    assert "among 2,000 validation rows: the mean of 4 permutations" in words
    assert "distance_0 | +46.2 %" in words
    assert "Without distance_0: roc_auc 0.7471 → 0.7000." in words
    assert "Importance" not in words_of(make_report(importance=None))


def test_the_run_is_named(make_report: Make) -> None:
    assert "date | 2026-11-25 00:31 UTC | machine | vm · 2 CPUs" in words_of(make_report())
