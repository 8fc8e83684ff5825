from __future__ import annotations

from dataclasses import replace

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.errors import EnvironmentFailure, Outcome
from trainwright_trainer.tasks.fingerprint import Fingerprint, compare

ONE = Fingerprint("a", "job", (("torch", "2.15"), ("trainwright", "0.1")), "code")


def line_of(*fingerprints):
    with pytest.raises(Mistakes) as found:
        compare(fingerprints)
    return str(found.value)


def test_equal_fingerprints():
    compare([ONE, replace(ONE, host="b")])
    compare([replace(ONE, gpu="0"), replace(ONE, gpu="1"), replace(ONE, host="b", gpu="0")])


@pytest.mark.parametrize(
    ("other", "line"),
    [
        ({"job": "another"}, "rank 1 (b) sees another file, or other options, than rank 0 (a)"),
        ({"code": "older"}, "rank 1 (b) and rank 0 (a) have different code of trainwright: install the same"),
        (
            {"versions": (("torch", "2.14"), ("trainwright", "0.1"))},
            "rank 1 (b) has torch 2.14, rank 0 (a) has 2.15: install one version",
        ),
    ],
)
def test_what_differs(other, line):
    assert line_of(ONE, replace(ONE, host="b", **other)) == line


def test_two_ranks_on_one_gpu():
    fingerprints = [replace(ONE, gpu="0"), replace(ONE, gpu="0")]
    assert line_of(*fingerprints) == (
        "ranks 0 and 1 would share one GPU of a: start one process for each GPU, or set backend.trainer.use_gpu: false"
    )


def test_a_mistake_that_only_another_rank_sees_names_it():
    mistake = Outcome.of(Mistakes.one("", "cannot be read: no such file"))
    assert line_of(ONE, replace(ONE, job=None, outcome=mistake)) == "cannot be read: no such file (rank 1)"


def test_another_failure_keeps_its_class():
    failed = replace(ONE, outcome=Outcome("environment", "no memory"))
    with pytest.raises(EnvironmentFailure, match="no memory"):
        compare([ONE, failed])
