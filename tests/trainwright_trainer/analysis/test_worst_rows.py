from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.csv

from trainwright_trainer.analysis.deadline import Deadline
from trainwright_trainer.analysis.subject import Subject
from trainwright_trainer.analysis.worst_rows import columns_of, raw_values, text_of, worst_rows
from trainwright_trainer.data.datasets import DataFiles
from trainwright_trainer.data.files import find
from trainwright_trainer.data.prepared import TEST
from trainwright_trainer.metrics.model import model_metrics

WANTED = [("", name) for name in ("x", "noise", "kind", "words", "y", "z")]


def test_they_are_the_rows_with_the_largest_losses_and_their_raw_values(subject: Subject, data_file: Path) -> None:
    metrics = model_metrics(subject.config, subject.data.statistics, figures=True)
    rows = subject.data.rows_of(TEST)
    losses, numbers = [], []
    for logits, each, part in subject.results(subject.batch(rows)):
        metrics.update(logits, each, part)
        losses.append(each["z"].numpy())
        numbers.append(part.rows)
    values = raw_values(lambda: DataFiles(find(str(data_file))).source(WANTED, ()), metrics.worst, Deadline(600))
    found = worst_rows(subject, metrics.worst, values)
    expected = np.concatenate(numbers)[np.argsort(-np.concatenate(losses), kind="stable")[:9]]
    assert [one.row for one in found["z"]] == expected.tolist()
    raw = pyarrow.csv.read_csv(data_file).to_pylist()
    for one in found["y"]:
        assert one.values is not None
        assert (one.values["kind"], one.values["y"]) == (raw[one.row]["kind"], raw[one.row]["y"])
        label, _, share = one.predicted.partition(" (")
        assert label != raw[one.row]["y"]
        assert float(share.removesuffix(" %)")) >= 50


def test_the_target_is_the_first_column(subject: Subject) -> None:
    assert columns_of(subject, "y") == ("y", "x", "noise", "kind", "words")


def test_values_are_texts_for_people() -> None:
    assert [text_of(value) for value in (None, 12.0, 0.123456, 7, True, [1.5, None])] == [
        "–",
        "12.00",
        "0.1235",
        "7",
        "True",
        "1.500, –",
    ]
    assert len(text_of("x" * 500)) == 200
    assert [text_of(b"a text"), text_of(b"\x89PNG" * 1000)] == ["a text", "4 kB"]
