from __future__ import annotations

import pytest
import torch

from trainwright_api.config.trainer import TrainerConfig
from trainwright_api.problems import Mistakes
from trainwright_trainer.optim.optimizers import BUILT, make_optimizer

FIELDS = {
    "sgd": [{}, {"momentum": 0.9, "dampening": 0.1}, {"momentum": 0.9, "nesterov": True}, {"weight_decay": 0.1}],
    "adam": [{}, {"betas": [0.8, 0.9], "eps": 1e-4}, {"amsgrad": True}, {"weight_decay": 0.1}],
    "adamw": [{}, {"weight_decay": 0.5}, {"amsgrad": True}],
    "adadelta": [{}, {"rho": 0.5, "eps": 1e-3}, {"weight_decay": 0.1}],
    "adagrad": [{}, {"initial_accumulator_value": 0.5, "lr_decay": 0.2}, {"eps": 1e-2}, {"weight_decay": 0.1}],
    "adamax": [{}, {"betas": [0.7, 0.8], "eps": 1e-3}, {"weight_decay": 0.1}],
    "nadam": [{}, {"momentum_decay": 0.1}, {"betas": [0.7, 0.8], "weight_decay": 0.1}],
    "rmsprop": [{}, {"momentum": 0.5}, {"alpha": 0.5, "centered": True}, {"eps": 1e-2, "weight_decay": 0.1}],
}


def weights_after(optimizer: torch.optim.Optimizer, weight: torch.nn.Parameter) -> torch.Tensor:
    draws = torch.Generator().manual_seed(1)
    for step in range(5):
        # The gradients shrink: otherwise AMSGrad's maximum would never differ from the average.
        weight.grad = torch.randn(weight.shape, generator=draws, dtype=weight.dtype) * 10 / (1 + step) ** 3
        optimizer.step()
    return weight.detach().clone()


def fresh() -> torch.nn.Parameter:
    return torch.nn.Parameter(torch.linspace(-1, 1, 7, dtype=torch.float64))


@pytest.mark.parametrize(("word", "fields"), [(word, one) for word, many in FIELDS.items() for one in many])
def test_every_field_means_what_it_means_in_torch(word, fields):
    section = TrainerConfig.model_validate({"optimizer": {"type": word, **fields}}).optimizer
    ours, theirs = fresh(), fresh()
    plain = {name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()}
    if word == "adamw" and "weight_decay" not in fields:
        plain["weight_decay"] = 0.0  # torch's own default is 0.01, the config's is 0
    expected = weights_after(BUILT[word]([theirs], lr=0.1, foreach=False, **plain), theirs)
    assert torch.allclose(weights_after(make_optimizer(section, [ours], 0.1), ours), expected, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("word", FIELDS)
def test_every_field_acts(word):
    ends = []
    for fields in FIELDS[word]:
        section = TrainerConfig.model_validate({"optimizer": {"type": word, **fields}}).optimizer
        weight = fresh()
        ends.append(weights_after(make_optimizer(section, [weight], 0.1), weight))
    assert len({tuple(end.tolist()) for end in ends}) == len(ends)


def test_what_is_not_built_says_so_in_one_line():
    section = TrainerConfig.model_validate({"optimizer": {"type": "lbfgs"}}).optimizer
    with pytest.raises(Mistakes, match=r"config.trainer.optimizer.type: not built yet: lbfgs"):
        make_optimizer(section, [fresh()], 0.1)
