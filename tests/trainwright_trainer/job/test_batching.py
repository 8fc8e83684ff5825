from __future__ import annotations

import pytest

from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.problems import Mistakes
from trainwright_trainer.job.batching import Batching, batching, check_losses_add_up, needs_search, search_limit
from trainwright_trainer.layers.normalisation import NormBatches


def of(workers: int = 1, found: int | None = None, norms: NormBatches | None = None, **fields: object) -> Batching:
    return batching(
        TrainerConfig.model_validate({"learning_rate": 0.1, **fields}), workers, norms or NormBatches(), found
    )


@pytest.mark.parametrize(
    ("fields", "workers", "expected"),
    [
        pytest.param({"batch_size": 16}, 1, (16, 16), id="alone"),
        pytest.param({"batch_size": 16}, 4, (64, 16), id="workers multiply"),
        pytest.param({"batch_size": 16, "gradient_accumulation_steps": 3}, 2, (96, 16), id="so does accumulation"),
        pytest.param({"batch_size": 16, "effective_batch_size": 128}, 1, (128, 16), id="a number decides"),
        pytest.param({"batch_size": 16, "effective_batch_size": 128}, 4, (128, 16), id="on any number of workers"),
        pytest.param(
            {"batch_size": 64, "effective_batch_size": 128}, 4, (128, 32), id="a pass is no more than a share"
        ),
        pytest.param(
            {"gradient_accumulation_steps": 4, "effective_batch_size": 128}, 2, (128, 16), id="batch_size follows"
        ),
    ],
)
def test_the_global_batch_and_the_passes(fields, workers, expected):
    found = of(workers, **fields)
    assert (found.global_rows, found.pass_rows) == expected


@pytest.mark.parametrize(
    ("fields", "found", "virtual"),
    [
        pytest.param({"batch_size": 64, "effective_batch_size": 256}, None, 40, id="its own number"),
        pytest.param({"batch_size": 16, "effective_batch_size": 256}, None, 16, id="at most batch_size"),
        pytest.param({"batch_size": 16}, None, 16, id="at most batch_size, on several workers"),
        pytest.param({}, 32, 32, id="at most the searched batch size"),
        pytest.param({"effective_batch_size": 256}, 32, 40, id="a search does not change a given global batch"),
        pytest.param({"effective_batch_size": 30}, 16, 30, id="at most the global batch"),
    ],
)
def test_virtual_batches_do_not_depend_on_the_workers(fields, found, virtual):
    for workers in (1, 2, 4):
        assert of(workers, found, NormBatches(virtual=40), **fields).virtual_rows == virtual


def test_auto_takes_what_the_search_found():
    assert of(2, found=32) == Batching(64, 32, pytest.approx(0.2))
    with pytest.raises(ValueError, match="searched for first"):
        of()


@pytest.mark.parametrize(("scaling", "rate"), [("linear", 0.4), ("sqrt", 0.2), ("constant", 0.1)])
def test_the_rate_grows_with_the_workers_only_where_the_global_batch_does(scaling, rate):
    fields = {"batch_size": 16, "learning_rate_scaling": scaling}
    assert of(4, **fields).learning_rate == pytest.approx(rate)
    assert of(4, **fields, effective_batch_size=64).learning_rate == 0.1
    assert of(1, **fields).learning_rate == 0.1


def test_when_a_search_is_needed_and_how_far_it_may_go():
    def trainer(**fields: object) -> TrainerConfig:
        return TrainerConfig.model_validate(fields)

    assert needs_search(trainer())
    assert not needs_search(trainer(batch_size=8))
    assert not needs_search(trainer(effective_batch_size=64, gradient_accumulation_steps=2))
    assert search_limit(trainer(max_batch_size=100), 1) == 100
    assert search_limit(trainer(effective_batch_size=64), 4) == 16


def test_passes_are_as_many_as_the_largest_slice_needs():
    assert Batching(100, 16, 0.1).passes(1) == 7
    assert Batching(100, 16, 0.1).passes(3) == 3
    assert Batching(16, 16, 0.1).passes(1) == 1


def test_it_survives_the_run_folder():
    one = Batching(100, 16, 0.1)
    assert Batching.from_json(one.to_json()) == one


def test_a_root_is_refused_only_where_it_is_cut():
    check_losses_add_up(["root_mean_squared_error"], 1)
    check_losses_add_up(["mean_squared_error"], 4)
    with pytest.raises(Mistakes, match=r"config\.output_features\[1\]\.loss\.type: .* is the root of a mean"):
        check_losses_add_up(["huber", "root_mean_squared_percentage_error"], 2)


def test_an_automatic_learning_rate_is_not_built():
    with pytest.raises(Mistakes, match=r"config\.trainer\.learning_rate: not built yet: auto"):
        of(learning_rate="auto", batch_size=4)
