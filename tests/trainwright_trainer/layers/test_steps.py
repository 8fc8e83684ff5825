"""Windows over sequences of different lengths, compared with torch on each sequence alone."""

from __future__ import annotations

import itertools

import pytest
import torch
import torch.nn.functional as F

from trainwright_trainer.layers.steps import Steps, Window, at_the_end, pooled

LENGTHS = [7, 0, 1, 4]


def steps() -> Steps:
    values = torch.randn(4, 7, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    lengths = torch.tensor(LENGTHS)
    return Steps(values, lengths).with_values(values)


@pytest.mark.parametrize("function", ["max", "mean"])
@pytest.mark.parametrize("padding", ["same", "valid"])
@pytest.mark.parametrize(("size", "stride"), list(itertools.product([1, 2, 3, 5], [1, 2, 3])))
def test_pooling_is_that_of_each_sequence_alone(size: int, stride: int, padding: str, function: str) -> None:
    given = steps()
    found = pooled(given, Window(size, stride, 1, padding), function)
    for row, length in enumerate(LENGTHS):
        alone = given.values[row, :length]
        before = (size - 1) // 2 if padding == "same" else 0
        starts = range(0, length, stride) if padding == "same" else range(0, max(length - size + 1, 0), stride)
        parts = [alone[max(at - before, 0) : max(at - before + size, 0)] for at in starts]
        expected = [part.amax(0) if function == "max" else part.mean(0) for part in parts]
        assert int(found.lengths[row]) == len(expected)
        for at, value in enumerate(expected):
            assert torch.allclose(found.values[row, at], value)
        assert not found.values[row, len(expected) :].any()


@pytest.mark.parametrize("padding", ["same", "valid"])
@pytest.mark.parametrize("dilation", [1, 2])
def test_windows_of_a_convolution_do_not_depend_on_the_padding(padding: str, dilation: int) -> None:
    given, window = steps(), Window(3, 2, dilation, padding)
    weight = torch.randn(2, 3, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(1))
    whole = F.conv1d(window.fitted(given.values.transpose(1, 2)), weight, stride=2, dilation=dilation)
    for row, length in enumerate(LENGTHS):
        count = int(window.steps(torch.tensor(length)))
        if count:
            alone = window.fitted(given.values[row : row + 1, :length].transpose(1, 2))
            single = F.conv1d(alone, weight, stride=2, dilation=dilation)
            assert torch.allclose(whole[row, :, :count], single[0])


def test_padding_on_the_left_moves_the_steps_to_the_end() -> None:
    values, mask = at_the_end(steps())
    for row, length in enumerate(LENGTHS):
        assert torch.equal(values[row, 7 - length :], steps().values[row, :length])
        assert not values[row, : 7 - length].any()
        assert mask[row].tolist() == [False] * (7 - length) + [True] * length
