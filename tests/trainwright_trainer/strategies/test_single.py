from __future__ import annotations

import pytest
import torch

from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.problems import Mistakes
from trainwright_api.resource.strategy import Strategy
from trainwright_trainer import strategies
from trainwright_trainer.distributed.ranks import OneRank
from trainwright_trainer.rundir.blocks import TensorSpec, copy_common
from trainwright_trainer.strategies import check_installed, engine_for
from trainwright_trainer.strategies.interface import Engine
from trainwright_trainer.strategies.single import Single

from .weighted import Weighted

section_of = TrainerConfig.model_validate


@pytest.fixture
def engine() -> Engine:
    return Single(Weighted(), section_of({"optimizer": {"type": "sgd"}, "gradient_clipping": None}), 0.1, OneRank())


def test_the_gradients_of_all_passes_make_one_update(engine: Engine) -> None:
    for factor, last in ((2.0, False), (3.0, True)):
        engine.accumulate(engine.forward(factor, last=last)["y"].sum())
    engine.update(0.1)
    assert engine.weights()["weight"].data.tolist() == pytest.approx([0.5, 0.5])
    assert engine.model.weight.grad is None


def test_discarded_gradients_change_nothing(engine: Engine) -> None:
    engine.accumulate(engine.forward(2.0, last=True)["y"].sum())
    engine.discard()
    engine.update(0.1)
    assert engine.weights()["weight"].data.tolist() == [1.0, 1.0]


def test_its_state_is_restored() -> None:
    section = section_of({"optimizer": {"type": "adam"}, "gradient_clipping": None})
    one, other = (Single(Weighted(), section, 0.1, OneRank()) for _ in range(2))
    one.accumulate(one.forward(2.0, last=True)["y"].sum())
    one.update(0.1)
    before, state = one.weights()["weight"].data.clone(), one.state()
    assert sorted(state.tensors) == ["exp_avg.weight", "exp_avg_sq.weight", "step.weight"]
    specs = {name: TensorSpec(block.shape, block.data.dtype) for name, block in state.tensors.items()}
    other.allocate(specs, state.values)
    for name, block in other.state().tensors.items():
        copy_common(block, state.tensors[name])
    copy_common(other.weights()["weight"], one.weights()["weight"])
    other.refresh()
    for each in (one, other):
        each.accumulate(each.forward(1.0, last=True)["y"].sum())
        each.update(0.1)
    assert torch.equal(one.weights()["weight"].data, other.weights()["weight"].data)
    assert not torch.equal(before, one.weights()["weight"].data)


def test_the_penalty_is_that_of_the_config() -> None:
    assert Single(Weighted(), section_of({}), 0.1, OneRank()).penalty() is None
    section = section_of({"regularization_type": "l2", "regularization_lambda": 0.5})
    assert Single(Weighted(), section, 0.1, OneRank()).penalty().item() == 1.0


def test_a_process_alone_uses_it_for_every_strategy() -> None:
    assert engine_for(Strategy(type="ddp"), OneRank()) is Single
    assert engine_for(None, OneRank()) is Single


def test_a_library_that_is_missing_is_a_mistake_with_its_command(monkeypatch) -> None:
    monkeypatch.setattr(strategies, "find_spec", lambda _: None)
    check_installed("fsdp")
    with pytest.raises(
        Mistakes, match=r"^backend\.trainer\.strategy: deepspeed is not installed here\. .* pip install"
    ):
        check_installed("deepspeed")
