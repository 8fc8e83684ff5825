"""The comparison of the parity law detects each error that a strategy can have."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from tests.ranks import on_ranks

from trainwright_api.resource.strategy import Strategy

from . import mutants
from .parity_job import Case, all_trained

UNEVEN = {"effective_batch_size": 64, "batch_size": 64, "early_stop": -1, "train_steps": 30, "eval_batch_size": 50}
CLIPPED = Case({**UNEVEN, "gradient_clipping": {"clipglobalnorm": 0.05}})
NORMALISED = Case(UNEVEN, {"norm": "batch"})
MUTANTS = {
    "gradients averaged per rank": replace(CLIPPED, engine=mutants.AveragedPerRank),
    "a sum skipped": replace(CLIPPED, engine=mutants.SkippedSum),
    "clipping by a local norm": replace(CLIPPED, engine=partial(mutants.LocalNorm, Strategy(type="fsdp"))),
    "a row dropped": replace(CLIPPED, mutation=mutants.a_row_is_dropped),
    "evaluation on a padded shard": replace(CLIPPED, mutation=mutants.evaluation_is_padded),
    "a batch norm of each rank's own rows": replace(NORMALISED, mutation=mutants.batch_norm_is_not_shared),
}


@pytest.fixture(scope="module")
def runs() -> dict[str, tuple[list[float], list[float]]]:
    """The losses and scores of each mutant on three ranks, and of the correct run in one process."""
    right = {
        case: [*one.losses, *one.scores] for case, one in zip("CN", all_trained([CLIPPED, NORMALISED]), strict=True)
    }
    found = on_ranks(3, all_trained, list(MUTANTS.values()))[0]
    return {
        name: ([*one.losses, *one.scores], right["N" if case.combiner else "C"])
        for (name, case), one in zip(MUTANTS.items(), found, strict=True)
    }


@pytest.mark.parametrize("name", MUTANTS)
def test_the_curve_differs(runs: dict[str, tuple[list[float], list[float]]], name: str) -> None:
    found, expected = runs[name]
    assert len(found) == len(expected)
    assert found != pytest.approx(expected, rel=1e-8, abs=1e-8)


def test_without_an_error_it_does_not() -> None:
    cases = [CLIPPED, replace(CLIPPED, engine="fsdp"), NORMALISED]
    alone = all_trained([CLIPPED, CLIPPED, NORMALISED])
    for found, expected in zip(on_ranks(3, all_trained, cases)[0], alone, strict=True):
        assert [*found.losses, *found.scores] == pytest.approx([*expected.losses, *expected.scores], rel=1e-8, abs=1e-8)
