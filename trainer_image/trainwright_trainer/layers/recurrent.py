"""Recurrent networks over sequences: torch's, with Ludwig's parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from trainwright_api.config.encoders.sequence_rnn import RecurrentEncoder
from trainwright_trainer.layers.initializers import Fills, Initialized, Initializer, initializer_of
from trainwright_trainer.layers.steps import Steps

CELLS: Mapping[str, Callable[..., nn.RNNBase]] = {"rnn": nn.RNN, "lstm": nn.LSTM, "gru": nn.GRU}
# torch stacks the weights of a cell's gates, in the order input, forget, cell, output for an LSTM.
_GATES: Mapping[str, int] = {"rnn": 1, "lstm": 4, "gru": 3}
_FORGET = 1


@dataclass(frozen=True)
class _ByGate:
    """Fills each gate's part of a stacked parameter on its own. `forgets`: the part of the forget gate becomes 1."""

    initializer: Fills
    gates: int
    forgets: bool = False

    @torch.no_grad()
    def fill(self, tensor: torch.Tensor, generator: torch.Generator | None = None) -> None:
        parts = tensor.chunk(self.gates)
        for part in parts:
            self.initializer.fill(part, generator)
        if self.forgets:
            parts[_FORGET].fill_(1.0)


class Recurrent(Initialized):
    """Layers of recurrent cells. `recurrent_dropout` applies to the output of each layer."""

    def __init__(self, width: int, layers: int, config: RecurrentEncoder, path: str) -> None:
        super().__init__()
        self.output_size = config.state_size * (2 if config.bidirectional else 1)
        rate = config.recurrent_dropout
        self.cells = CELLS[config.cell_type](
            width,
            config.state_size,
            layers,
            bias=config.use_bias,
            batch_first=True,
            dropout=rate if layers > 1 else 0.0,
            bidirectional=config.bidirectional,
        )
        self.dropout = nn.Dropout(rate) if rate else None
        found = {f"cells.{name}": _initializer(name, one, config, path) for name, one in self.cells.named_parameters()}
        self.initialize(**found)

    def length(self, length: int) -> int:
        """The steps of the output for an input of `length` steps."""
        return length

    def forward(self, steps: Steps) -> Steps:
        values, lengths = steps
        if torch.compiler.is_exporting():
            return steps.with_values(self._unpacked(values, lengths))
        if not len(values):  # torch's cells need a row; a rank may have none
            values, lengths = F.pad(values, (0, 0, 0, 0, 0, 1)), F.pad(lengths, (0, 1), value=1)
        # A sequence without steps has no place among packed ones: its first step, a zero, is computed and then cleared.
        packed = pack_padded_sequence(values, lengths.clamp(min=1).cpu(), batch_first=True, enforce_sorted=False)
        found, _ = pad_packed_sequence(self.cells(packed)[0], batch_first=True, total_length=values.shape[1])
        found = found[: len(steps.values)]
        return steps.with_values(found if self.dropout is None else self.dropout(found))

    def _unpacked(self, values: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        """The outputs of the cells without packing, which no exported graph has. Steps that do not count are undefined.

        No step that counts depends on them: they come last, also in a reversed sequence.
        """
        sides = 2 if self.cells.bidirectional else 1
        for layer in range(self.cells.num_layers):
            forwards, *backwards = self.cells.all_weights[layer * sides : (layer + 1) * sides]
            found = [self._one_direction(values, forwards)]
            found += [
                _reversed(self._one_direction(_reversed(values, lengths), weights), lengths) for weights in backwards
            ]
            values = torch.cat(found, 2)
        return values

    def _one_direction(self, values: torch.Tensor, weights: Sequence[torch.Tensor]) -> torch.Tensor:
        zeros = values.new_zeros(1, values.shape[0], self.cells.hidden_size)
        first: Any = [zeros, zeros] if isinstance(self.cells, nn.LSTM) else zeros
        found: torch.Tensor = _FUNCTIONS[type(self.cells)](
            values, first, weights, self.cells.bias, 1, 0.0, False, False, True
        )[0]
        return found


def traceable(cells: nn.RNNBase, values: torch.Tensor, state: Any) -> tuple[torch.Tensor, Any]:
    """`cells(values, state)` in eval mode, for a graph: torch does not trace the module itself."""
    weights = [weight for layer in cells.all_weights for weight in layer]
    first = list(state) if isinstance(state, tuple) else state
    options = (cells.bias, cells.num_layers, 0.0, False, cells.bidirectional, cells.batch_first)
    found, *after = _FUNCTIONS[type(cells)](values, first, weights, *options)
    return found, tuple(after) if isinstance(state, tuple) else after[0]


_FUNCTIONS: Mapping[type[nn.RNNBase], Callable[..., Any]] = {
    nn.RNN: torch.rnn_tanh,
    nn.LSTM: torch.lstm,
    nn.GRU: torch.gru,
}


def _reversed(values: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
    """The steps that count in reverse order; the others are undefined."""
    places = (lengths.unsqueeze(1) - 1 - torch.arange(values.shape[1], device=values.device)).clamp(min=0)
    return values.gather(1, places.unsqueeze(2).expand_as(values))


def _initializer(name: str, parameter: torch.Tensor, config: RecurrentEncoder, path: str) -> Fills:
    """The initializer of one parameter of torch's cells: `weight_ih_l0`, `bias_hh_l1_reverse` and so on.

    Each cell has two biases, which are added: the second one is zero.
    """
    gates = _GATES[config.cell_type]
    gate = parameter[: len(parameter) // gates]
    if name.startswith("bias_hh"):
        return Initializer("zeros", {})
    if name.startswith("bias"):
        forgets = config.cell_type == "lstm" and config.unit_forget_bias
        return _ByGate(initializer_of(config.bias_initializer, gate, f"{path}.bias_initializer"), gates, forgets)
    word = "recurrent_initializer" if name.startswith("weight_hh") else "weights_initializer"
    return _ByGate(initializer_of(getattr(config, word), gate, f"{path}.{word}"), gates)
