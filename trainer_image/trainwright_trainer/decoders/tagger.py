"""The decoder that gives each step of a combined sequence a token."""

from __future__ import annotations

import numpy as np
import torch

from trainwright_api.config.decoders import TaggerDecoder
from trainwright_api.problems import Mistakes
from trainwright_trainer.decoders.affine_output import AffineOutput
from trainwright_trainer.decoders.base import agree
from trainwright_trainer.decoders.sequence import SequenceDecoder
from trainwright_trainer.layers.fully_connected import linear, stack_of
from trainwright_trainer.layers.steps import Steps
from trainwright_trainer.layers.transformer import SelfAttention
from trainwright_trainer.loader.batch import Ragged

# As in Ludwig's schema. Every tagger has this width in a file that does not name it, so it counts as not given.
_ANY_WIDTH = 256


class Tagger(SequenceDecoder):
    """`Steps` → logits of the tokens of each step.

    Tokens of a target beyond the steps of its input have the logits of a step of zeros. With attention a step sees the
    other steps of its row.
    """

    takes_sequences = True

    def __init__(
        self, config: TaggerDecoder, input_size: int, width: int, path: str, start: AffineOutput | None = None
    ) -> None:
        super().__init__(config, input_size, path, start)
        norms = {layer.norm for layer in stack_of(config, path)}
        if "ghost" in norms:
            raise Mistakes.one(f"{path}.fc_norm", "expected batch or layer for the steps of a sequence, found ghost")
        self._has_batch_norm = "batch" in norms
        size = self.hidden_size
        agree(None if config.input_size == _ANY_WIDTH else config.input_size, size, f"{path}.input_size")
        agree(config.vocab_size, width, f"{path}.vocab_size")
        self.attention = None
        if config.use_attention:
            heads = config.attention_num_heads
            self.attention = SelfAttention(size, config.attention_embedding_size, heads)
            size = self.attention.output_size
        self.head = linear(size, width, use_bias=config.use_bias)

    def hidden(self, combined: Steps) -> Steps:
        """The last hidden state of each step. The statistics of a batch norm are those of the steps that count."""
        if not self._has_batch_norm:
            return combined.with_values(self.stack(combined.values))
        if torch.compiler.is_exporting():  # no moments are needed: all steps are normalised
            return combined.with_values(
                self.stack(combined.values.flatten(0, 1)).unflatten(0, combined.values.shape[:2])
            )
        values = combined.values.new_zeros(*combined.values.shape[:2], self.hidden_size)
        mask = combined.mask
        return Steps(values.masked_scatter(mask.unsqueeze(2), self.stack(combined.values[mask])), combined.lengths)

    def steps(self, hidden: Steps, targets: Ragged | None) -> Steps:
        values = hidden.values
        if self.attention is not None:
            # Attention over no step at all is undefined.
            mask = Steps(values, hidden.lengths.clamp(min=1)).mask
            values = hidden.with_values(self.attention(values, mask)).values
        found = Steps(values, hidden.lengths)
        if targets is not None:
            longest = int(np.diff(targets.bounds).max(initial=1))
            found = Steps(found.of_length(longest).values, targets.offsets.diff())
        return Steps(self.started(self.head(found.values)), found.lengths)
