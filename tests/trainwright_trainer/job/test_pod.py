from __future__ import annotations

from pathlib import Path

import pytest

from trainwright_api.problems import Mistakes
from trainwright_trainer.job.pod import Address, GangMember, Pod, this_pod

LEAST = {"TRAINWRIGHT_ATTEMPT": "2", "TRAINWRIGHT_STAGE": "train", "TRAINWRIGHT_UID": "abc"}


def test_a_laptop_is_no_pod():
    assert this_pod({"HOME": "/", "TRAINWRIGHT_STAGE": "train"}) is None


def test_what_the_operator_shows():
    variables = {
        **LEAST,
        "TRAINWRIGHT_RUN": "s3://runs/a",
        "TRAINWRIGHT_PROGRESS_URL": "https://operator/v1",
        "TRAINWRIGHT_TOKEN_FILE": "/token",
        "TRAINWRIGHT_CA": "/ca",
        "TRAINWRIGHT_CONTRACT": "1",
        "TRAINWRIGHT_RAY_VERSION": "2.60.0",
        "TRAINWRIGHT_CPUS": "3",
    }
    address = Address("https://operator/v1", Path("/token"), Path("/ca"))
    assert this_pod(variables) == Pod(2, "train", "abc", "s3://runs/a", address, "1", "2.60.0", cpus=3)


GANG = {
    **LEAST,
    "TRAINWRIGHT_WORKERS": "5",
    "TRAINWRIGHT_WORKERS_PER_POD": "2",
    "TRAINWRIGHT_MASTER_ADDRESS": "late-1-0.late-1",
    "TRAINWRIGHT_MASTER_PORT": "29500",
}


@pytest.mark.parametrize(
    ("index", "local", "rank", "of_pod"), [("0", "0", 0, 2), ("1", "0", 2, 2), ("1", "1", 3, 2), ("2", "0", 4, 1)]
)
def test_a_member_of_a_gang(index, local, rank, of_pod):
    found = this_pod({**GANG, "JOB_COMPLETION_INDEX": index, "TRAINWRIGHT_LOCAL_RANK": local})
    assert found.member == GangMember(rank, 5, int(local), of_pod, "late-1-0.late-1", 29500)
    assert found.reports == (rank == 0)


def test_a_pod_of_a_gang_has_an_index():
    with pytest.raises(Mistakes, match=r"^JOB_COMPLETION_INDEX: expected a whole number, from 0, found None"):
        this_pod(GANG)


def test_what_it_may_leave_out():
    assert this_pod(LEAST) == Pod(2, "train", "abc")


@pytest.mark.parametrize(
    ("changed", "line"),
    [
        ({"TRAINWRIGHT_ATTEMPT": "0"}, r"TRAINWRIGHT_ATTEMPT: expected .* number, from 1, found '0'"),
        ({"TRAINWRIGHT_ATTEMPT": "²"}, r"TRAINWRIGHT_ATTEMPT: expected .* number, from 1, found '²'"),
        ({"TRAINWRIGHT_CPUS": "half"}, r"TRAINWRIGHT_CPUS: expected .* number, from 1, found 'half'"),
        ({"TRAINWRIGHT_UID": ""}, r"TRAINWRIGHT_UID: missing: the environment of a pod has it beside TRAINWRIGHT_"),
        ({"TRAINWRIGHT_PROGRESS_URL": "https://operator"}, r"TRAINWRIGHT_TOKEN_FILE: missing"),
    ],
)
def test_an_environment_that_is_none_of_a_pods(changed, line):
    with pytest.raises(Mistakes, match=f"^{line}"):
        this_pod({**LEAST, **changed})
