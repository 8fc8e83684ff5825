"""The smallest model of an engine."""

from __future__ import annotations

import torch


class Weighted(torch.nn.Module):
    """Logits are the weight times the batch. The penalty is the sum of its squares."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.ones(2))

    def forward(self, batch):
        return {"y": self.weight * batch}

    def initial_weights(self):
        return ()

    def regularization(self, kind, factor):
        assert kind == "l2"
        return factor * self.weight.square().sum()
