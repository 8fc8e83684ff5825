"""The decoder that generates a sequence token by token.

A recurrent network begins with the hidden state of the row. Each step reads the token before it and gives the logits of
the next token or of the end. In training, and wherever a loss is measured, it reads the true tokens (teacher forcing).
A prediction takes the likeliest token of each step (greedy) up to the end.
"""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from trainwright_api.config.decoders import GeneratorDecoder
from trainwright_api.config.initializers import UniformInitializer
from trainwright_trainer.decoders.affine_output import AffineOutput
from trainwright_trainer.decoders.base import agree
from trainwright_trainer.decoders.sequence import SequenceDecoder
from trainwright_trainer.layers.embedding import Embedding
from trainwright_trainer.layers.fully_connected import linear
from trainwright_trainer.layers.initializers import Initialized, initializer_of
from trainwright_trainer.layers.recurrent import CELLS, traceable
from trainwright_trainer.layers.steps import Steps
from trainwright_trainer.loader.batch import Ragged, padded

# As in Ludwig's schema. Every generator has this width in a file that does not name it, so it counts as not given.
_ANY_WIDTH = 256
State = torch.Tensor | tuple[torch.Tensor, torch.Tensor]


class Generator(SequenceDecoder):
    """[rows, hidden_size] → logits of the tokens and, in the last column, of the end. The end also is the first input.

    The state of the network is as wide as `hidden`.
    """

    def __init__(
        self, config: GeneratorDecoder, input_size: int, width: int, path: str, start: AffineOutput | None = None
    ) -> None:
        super().__init__(config, input_size, path, start)
        size = self.hidden_size
        agree(None if config.input_size == _ANY_WIDTH else config.input_size, size, f"{path}.input_size")
        agree(config.vocab_size, width - 1, f"{path}.vocab_size")
        self._end = width - 1
        self.table = Embedding(width, size, None, path, is_exact=True)
        self.network = _Network(config, size)
        self.head = linear(size, width)

    def steps(self, hidden: torch.Tensor, targets: Ragged | None) -> Steps:
        if targets is None:
            return self._greedy(hidden)
        tokens, lengths = padded(targets, 0, self._end)
        before = F.pad(tokens, (1, 0), value=self._end)
        found, _ = self.network(self.table(before), self.network.start(hidden))
        return Steps(self.started(self.head(found)), lengths + 1)

    def _greedy(self, hidden: torch.Tensor) -> Steps:
        """At most `length` tokens a row. Those before the end count."""
        state = self.network.start(hidden)
        token = torch.full((hidden.shape[0],), self._end, dtype=torch.int64, device=hidden.device)
        lengths = torch.full_like(token, self.length)
        logits: list[torch.Tensor] = []
        for step in range(self.length):
            found, state = self.network(self.table(token.unsqueeze(1)), state)
            logits.append(self.started(self.head(found)))
            token = logits[-1].squeeze(1).argmax(1)
            lengths = torch.where(token == self._end, lengths.clamp(max=step), lengths)
            # A graph has all steps.
            if not torch.compiler.is_exporting() and not bool((lengths > step).any()):
                break
        return Steps(torch.cat(logits, 1), lengths)


class _Network(Initialized):
    """torch's recurrent network, with the initial values that torch gives it."""

    def __init__(self, config: GeneratorDecoder, size: int) -> None:
        super().__init__()
        self._layers, self._is_lstm = config.num_layers, config.cell_type == "lstm"
        self.cells = CELLS[config.cell_type](size, size, config.num_layers, batch_first=True)
        bound = 1 / math.sqrt(size)
        uniform = UniformInitializer(a=-bound, b=bound)
        named = self.cells.named_parameters()
        self.initialize(**{f"cells.{name}": initializer_of(uniform, one, "") for name, one in named})

    def start(self, hidden: torch.Tensor) -> State:
        """The state before the first step: `hidden` in each layer."""
        state = hidden.expand(self._layers, -1, -1).contiguous()
        return (state, state) if self._is_lstm else state

    def forward(self, values: torch.Tensor, state: State) -> tuple[torch.Tensor, State]:
        if torch.compiler.is_exporting():
            return traceable(self.cells, values, state)
        if len(values):
            found: tuple[torch.Tensor, State] = self.cells(values, state)
            return found
        # torch's cells need a row; a rank may have none. With a row of zeros all parameters still have a gradient.
        states = [F.pad(one, (0, 0, 0, 1)) for one in (state if isinstance(state, tuple) else (state,))]
        filled: State = (states[0], states[1]) if self._is_lstm else states[0]
        return self.cells(F.pad(values, (0, 0, 0, 0, 0, 1)), filled)[0][:0], state
