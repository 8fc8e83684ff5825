"""Our metrics are equal to those of torchmetrics, for any cut of the rows into processes and batches."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
import torch
import torch.nn.functional as F
import torchmetrics.functional as tm
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.metrics import jaccard_score, r2_score

from trainwright_trainer.metrics.model import ModelMetrics

Make = Callable[..., ModelMetrics]
Feed = Callable[..., None]
Rows = tuple[torch.Tensor, torch.Tensor, list[int]]

over_any_cut = settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def rows_of(draw: st.DrawFn, targets: Callable[..., torch.Tensor], *width: int) -> Rows:
    """Logits [rows, *width] with many ties, targets, and the positions at which the rows are cut."""
    rows = draw(st.integers(2, 60))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 2**32 - 1)))
    dtype = draw(st.sampled_from([torch.float32, torch.float64]))
    logits = torch.randint(-6, 7, (rows, *width), generator=generator).to(dtype) / 3
    cuts = sorted(draw(st.lists(st.integers(0, rows), max_size=4)))
    return logits, targets(rows, *width, generator=generator, dtype=dtype), [0, *cuts, rows]


def flags(rows: int, *, generator: torch.Generator, dtype: torch.dtype) -> torch.Tensor:
    return torch.randint(0, 2, (rows,), generator=generator).to(dtype)


def classes(rows: int, width: int, *, generator: torch.Generator, dtype: torch.dtype) -> torch.Tensor:  # noqa: ARG001
    return torch.randint(0, width, (rows,), generator=generator)


def values(rows: int, *width: int, generator: torch.Generator, dtype: torch.dtype) -> torch.Tensor:
    return torch.randn(rows, *width, generator=generator, dtype=dtype)


def scores(make: Callable[[], ModelMetrics], feed: Feed, drawn: Rows) -> dict[str, float]:
    """The merged scores, where each part goes to a process of its own in two batches."""
    logits, targets, cuts = drawn
    whole = make()
    for start, stop in pairwise(cuts):
        process = make()
        for part in (slice(start, (start + stop) // 2), slice((start + stop) // 2, stop)):
            feed(process, logits[part], targets[part])
        whole.merge(process)
    return dict(whole.compute()["y"])


@over_any_cut
@given(rows_of(flags), st.sampled_from([0.5, 0.3, 0.9]))
def test_binary(make: Make, feed: Feed, drawn: Rows, threshold: float) -> None:
    found = scores(lambda: make("binary", threshold=threshold), feed, drawn)
    found.pop("loss")
    predicted, truth = (torch.sigmoid(drawn[0].double()) >= threshold).int(), drawn[1].int()
    expected = {
        "accuracy": tm.classification.binary_accuracy(predicted, truth),
        "precision": tm.classification.binary_precision(predicted, truth),
        "recall": tm.classification.binary_recall(predicted, truth),
        "specificity": tm.classification.binary_specificity(predicted, truth),
    }
    if 0 < truth.sum() < len(truth):
        expected["roc_auc"] = tm.classification.binary_auroc(torch.sigmoid(drawn[0].double()), truth)
    assert found == pytest.approx({name: value.item() for name, value in expected.items()}, abs=1e-6)


@over_any_cut
@given(rows_of(classes, 4), st.integers(1, 4))
def test_category(make: Make, feed: Feed, drawn: Rows, top_k: int) -> None:
    # torchmetrics does not define which of two equal scores comes first, so the logits must be distinct.
    logits = drawn[0] + torch.arange(4) / -100
    found = scores(lambda: make("category", top_k=top_k), feed, (logits, *drawn[1:]))
    accuracy = tm.classification.multiclass_accuracy
    assert found["accuracy"] == pytest.approx(accuracy(logits, drawn[1], 4).item(), abs=1e-6)
    assert found["accuracy_micro"] == pytest.approx(accuracy(logits, drawn[1], 4, average="micro").item(), abs=1e-6)
    hits = accuracy(logits, drawn[1], 4, average="micro", top_k=top_k).item()
    assert found.get("hits_at_k", 1.0) == pytest.approx(hits, abs=1e-6)
    assert ("hits_at_k" in found) == (top_k < 4)


def errors(predicted: torch.Tensor, truth: torch.Tensor) -> dict[str, float]:
    found: dict[str, Any] = {
        "mean_squared_error": tm.mean_squared_error(predicted, truth),
        "mean_absolute_error": tm.mean_absolute_error(predicted, truth),
        "root_mean_squared_error": tm.mean_squared_error(predicted, truth, squared=False),
    }
    # torchmetrics treats targets that hardly differ as equal, so R² comes from scikit-learn.
    return {**{name: value.item() for name, value in found.items()}, "r2": r2_score(truth, predicted)}


def sets(rows: int, width: int, *, generator: torch.Generator, dtype: torch.dtype) -> torch.Tensor:
    return torch.randint(0, 2, (rows, width), generator=generator).to(dtype)


@over_any_cut
@given(rows_of(sets, 3), st.sampled_from([0.5, 0.3, 0.9]))
def test_set(make: Make, feed: Feed, drawn: Rows, threshold: float) -> None:
    found = scores(lambda: make("set", threshold=threshold), feed, drawn)
    predicted = torch.sigmoid(drawn[0].double()) >= threshold
    expected = jaccard_score(drawn[1].int(), predicted.int(), average="samples", zero_division=1.0)
    assert found["jaccard"] == pytest.approx(expected, abs=1e-12)


def sequences(rows: int, length: int, width: int, *, generator: torch.Generator, dtype: torch.dtype) -> torch.Tensor:  # noqa: ARG001
    """Targets of 0 to `length` tokens; the first row has all."""
    tokens = torch.randint(0, width, (rows, length), generator=generator)
    lengths = torch.randint(0, length + 1, (rows, 1), generator=generator)
    lengths[0] = length
    return torch.where(torch.arange(length) < lengths, tokens, -1)


@over_any_cut
@given(rows_of(sequences, 4, 3))
def test_sequence(make: Make, feed: Feed, drawn: Rows) -> None:
    logits, targets, cuts = drawn
    logits = logits.double() + torch.arange(3) / -100
    cuts = [0, len(targets)] if (targets[:, 0] < 0).all() else cuts
    found = scores(
        lambda: make("sequence"),
        lambda metrics, rows, truth: feed(metrics, rows[:, : _longest(truth)], truth[:, : _longest(truth)]),
        (logits, targets, cuts),
    )
    some = targets >= 0
    accuracy = tm.classification.multiclass_accuracy(logits[some], targets[some], 3, average="micro")
    assert found["token_accuracy"] == pytest.approx(accuracy.item(), abs=1e-6)
    assert found["perplexity"] == pytest.approx(tm.text.perplexity(logits, targets, ignore_index=-1).item(), rel=1e-6)
    whole = ((logits.argmax(2) == targets) | ~some).all(1)
    assert found["sequence_accuracy"] == pytest.approx(whole.double().mean().item())
    losses = torch.cat([torch.arange(1.0, len(part) + 1) for part in _parts(targets, cuts)])
    assert found["loss"] == pytest.approx((losses.sum() / some.sum()).item())
    predicted, true = (
        [row[own].tolist() for row, own in zip(each, some, strict=True)] for each in (logits.argmax(2), targets)
    )
    assert found["edit_distance"] == pytest.approx(_edit_distance(predicted, true), abs=1e-6)
    last = [one[-1] == other[-1] for one, other in zip(predicted, true, strict=True) if other]
    assert found.get("last_accuracy", 0.0) == pytest.approx(sum(last) / max(len(last), 1))


@over_any_cut
@given(rows_of(sequences, 4, 3))
def test_a_generated_sequence_ends_with_its_first_end(make: Make, feed: Feed, drawn: Rows) -> None:
    """The end is class 3. A row has one step more than it has tokens."""
    targets = drawn[1]
    logits = F.pad(drawn[0].double() + torch.arange(3) / -100, (0, 1, 0, 1), value=0.5)
    metrics = make("sequence", decoder="generator")
    feed(metrics, logits, targets)
    lengths = (targets >= 0).sum(1).tolist()
    steps = [[*row[: length + 1], 3] for row, length in zip(logits.argmax(2).tolist(), lengths, strict=True)]
    found = [row[: row.index(3)] for row in steps]
    true = [row[:length] for row, length in zip(targets.tolist(), lengths, strict=True)]
    assert metrics.compute()["y"]["edit_distance"] == pytest.approx(_edit_distance(found, true), abs=1e-6)


def _edit_distance(found: list[list[int]], true: list[list[int]]) -> float:
    """The mean of the distances by torchmetrics, each divided by the length of the true sequence."""
    texts = [["".join(chr(65 + token) for token in row) for row in rows] for rows in (found, true)]
    distances = tm.text.edit_distance(*texts, reduction="none")
    return float((distances / torch.tensor([max(len(row), 1) for row in true])).mean())


def _longest(targets: torch.Tensor) -> int:
    return max(1, int((targets >= 0).sum(1).max())) if len(targets) else 1


def _parts(rows: torch.Tensor, cuts: list[int]) -> list[torch.Tensor]:
    """The batches in which `scores` gives the rows."""
    halves = [(start, (start + stop) // 2, stop) for start, stop in pairwise(cuts)]
    return [rows[first:last] for start, middle, stop in halves for first, last in ((start, middle), (middle, stop))]


@over_any_cut
@given(rows_of(values))
def test_number(make: Make, feed: Feed, drawn: Rows) -> None:
    found = scores(lambda: make("number"), feed, drawn)
    predicted, truth = (part.double() * 2 + 5 for part in drawn[:2])
    expected = errors(predicted, truth)
    expected["mean_absolute_percentage_error"] = tm.mean_absolute_percentage_error(predicted, truth).item()
    squared_percentage = ((predicted - truth) / truth).square().mean().sqrt().item()
    expected["root_mean_squared_percentage_error"] = squared_percentage
    found.pop("loss")
    assert found == pytest.approx(expected, rel=1e-6)


@over_any_cut
@given(rows_of(values, 3))
def test_vector(make: Make, feed: Feed, drawn: Rows) -> None:
    found = scores(lambda: make("vector"), feed, drawn)
    found.pop("loss")
    predicted, truth = (part.double() for part in drawn[:2])
    expected = errors(predicted.flatten(), truth.flatten())
    expected["r2"] = r2_score(truth, predicted)
    assert found == pytest.approx(expected, rel=1e-6)


@over_any_cut
@given(rows_of(flags))
def test_ranks_and_counts_are_the_same_to_the_bit_over_any_cut(make: Make, feed: Feed, drawn: Rows) -> None:
    logits, targets, cuts = drawn
    ours = [scores(lambda: make("binary"), feed, (logits, targets, where)) for where in ([0, len(logits)], cuts)]
    for found in ours:
        found.pop("loss")
    assert ours[0] == ours[1]
