from __future__ import annotations

from typing import Any

import pytest
import torch
import torch.nn.functional as F

from trainwright_api.problems import Mistakes
from trainwright_trainer.layers.ghost_norm import GhostNorm
from trainwright_trainer.layers.normalisation import NormBatches, norm_batches

from .making import made

SMALL = {"type": "tabnet", "size": 3, "output_size": 4, "num_steps": 2, "dropout": 0.0}


def rows(number: int = 40) -> list[torch.Tensor]:
    generator = torch.Generator().manual_seed(0)
    return [torch.randn(number, width, generator=generator) for width in (1, 2)]


def tabnet(**settings: Any) -> Any:
    torch.manual_seed(0)
    return made({**SMALL, **settings}, size="number", point="vector")


def test_the_values_are_those_of_the_paper() -> None:
    """Written again, step by step, with the weights of the combiner."""
    combiner = tabnet(relaxation_factor=1.2).eval()
    columns = torch.cat(rows(), 1) * torch.rsqrt(torch.tensor(1 + 1e-3))
    prior, total = torch.ones(40, 3), torch.zeros(40, 4)
    hidden = combiner.features[0](columns)
    for step in range(2):
        scores = F.linear(hidden[:, 4:], combiner.attentions[step].layer.weight) * torch.rsqrt(torch.tensor(1 + 1e-3))
        mask = combiner.attentions[step].attention(scores * prior)
        prior = prior * (1.2 - mask)
        hidden = combiner.features[step + 1](mask * columns)
        total += F.relu(hidden[:, :4])
    values, penalty, _ = combiner(rows())
    torch.testing.assert_close(values, combiner.projection(total))
    assert values.shape == (40, combiner.output_size)
    assert penalty is None, "nothing reads it in evaluation"


def test_the_penalty_is_the_entropy_of_the_masks() -> None:
    """With equal scores, each column gets a third in each step."""
    combiner = tabnet(sparsity=0.5)
    for attention in combiner.attentions:
        torch.nn.init.zeros_(attention.layer.weight)
    penalty = combiner(rows()).penalty
    torch.testing.assert_close(penalty, torch.full((40,), 0.5 * torch.log(torch.tensor(3.0)).item()), rtol=1e-3, atol=0)


def test_without_sparsity_there_is_no_penalty() -> None:
    assert tabnet(sparsity=0.0)(rows()).penalty is None


def test_every_parameter_has_a_gradient() -> None:
    combiner = tabnet(entmax_mode="adaptive", entmax_alpha=1.5)
    values, penalty, _ = combiner(rows())
    (values.square().sum() + penalty.sum()).backward()
    assert all(one.grad is not None and one.grad.abs().sum() > 0 for one in combiner.parameters())


def test_every_transformer_has_norms_of_its_own_and_the_first_layers_of_all() -> None:
    combiner = tabnet(num_total_blocks=3, num_shared_blocks=2)
    named = dict(combiner.named_parameters())
    assert [name for name in named if name.startswith("shared.")] == ["shared.0.weight", "shared.1.weight"]
    assert sum(".own." in name for name in named) == 3
    assert sum(isinstance(one, GhostNorm) for one in combiner.modules()) == 3 * 3 + 2


def test_the_virtual_batches_are_those_of_ghost_norm() -> None:
    assert norm_batches(tabnet(bn_virtual_bs=16)) == NormBatches(whole=True, virtual=16)
    assert norm_batches(tabnet(bn_virtual_bs=None)) == NormBatches(whole=True, virtual=None)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"num_shared_blocks": 5}, "num_shared_blocks: there are 4 blocks"),
        ({"entmax_mode": "adaptive", "entmax_alpha": 2.0}, "entmax_alpha: entmax_mode adaptive learns an alpha"),
        ({"num_steps": 0}, "num_steps: expected a whole number of at least 1"),
        ({"bn_virtual_bs": 1}, "bn_virtual_bs: expected a whole number of at least 2"),
    ],
)
def test_settings_that_do_not_fit_are_refused(settings: dict[str, Any], line: str) -> None:
    with pytest.raises((Mistakes, ValueError)) as refused:
        tabnet(**settings)
    assert line.partition(": ")[0] in str(refused.value)
