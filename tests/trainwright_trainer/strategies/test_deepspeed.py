"""The edges of DeepSpeed's engine. Its training is tested in tests/laws."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from trainwright_trainer.strategies.deepspeed import _local_rank

OF_MPI = "OMPI_COMM_WORLD_LOCAL_RANK"


@pytest.mark.parametrize(
    ("device", "launcher", "found"),
    [
        ("cuda:1", {}, {"LOCAL_RANK": "1"}),
        ("cuda:0", {"LOCAL_RANK": "3"}, {"LOCAL_RANK": "0"}),
        ("cuda:0", {OF_MPI: "3"}, {"LOCAL_RANK": "0", OF_MPI: "0"}),
        ("cpu", {}, {"LOCAL_RANK": "0"}),
        ("cpu", {"LOCAL_RANK": "3"}, {"LOCAL_RANK": "3"}),
        ("cpu", {OF_MPI: "3"}, {"LOCAL_RANK": "3", OF_MPI: "3"}),
    ],
)
def test_it_takes_the_gpu_of_the_rank_and_not_that_of_the_launcher(
    device: str, launcher: dict[str, str], found: dict[str, str]
) -> None:
    assert _local_rank(torch.device(device), launcher) == found


AGAIN_AND_AGAIN = """
import json, trainwright
job = json.load(open("job.yaml"))
for number, word in enumerate(("local", "deepspeed", "deepspeed")):
    result = trainwright.train({**job, "backend": {"type": word}}, output=f"out{number}", quiet=True)
    print(result.test["late"]["loss"])
"""


def test_a_process_alone_trains_again_and_again(workplace: Any) -> None:
    """No launcher has initialised a process group, and DeepSpeed keeps the one that it has found."""
    workplace.job()
    ended = workplace.python(AGAIN_AND_AGAIN)
    assert (ended.code, ended.err) == (0, "")
    plain, first, second = map(float, ended.out.split())
    assert first == second
    assert first == pytest.approx(plain, rel=1e-5)
