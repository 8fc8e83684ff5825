"""The input of a decoder: the combined vector or sequence, and the hidden states of other outputs beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import nn

from trainwright_api.config.combiner_relations import NO_STEPS
from trainwright_api.config.features import OutputFeature
from trainwright_api.problems import Mistakes
from trainwright_trainer.layers.names import module_key
from trainwright_trainer.layers.reduce import Reduction
from trainwright_trainer.layers.steps import Steps

State = torch.Tensor | Steps


class Source(nn.Module):
    """combined and the hidden states of all outputs so far → [rows, output_size], or `Steps` for a tagger.

    `length`: the largest number of combined steps; None: the combiner gives one vector. `seen`: the width and the
    length of the hidden states that the output depends on. A sequence among them is reduced to a vector as
    `reduce_dependencies` says; a vector is repeated for each step of a tagger.
    """

    def __init__(
        self,
        feature: OutputFeature,
        width: int,
        length: int | None,
        seen: Mapping[str, tuple[int, int | None]],
        path: str,
    ) -> None:
        super().__init__()
        self._takes_sequences = feature.decoder.type == "tagger"
        if self._takes_sequences and length is None:
            raise Mistakes.one(f"{path}.decoder", NO_STEPS)
        self.reduction = None if self._takes_sequences else _reduction(feature, width, length)
        self.seen = nn.ModuleDict()
        self._names = tuple(seen)
        self.output_size = width if self.reduction is None else self.reduction.output_size
        for name, (other, steps) in seen.items():
            if steps is None or self._takes_sequences:
                self.output_size += other
                continue
            if feature.reduce_dependencies is None:
                found = f"{name!r} has a hidden state for each step, and {feature.name!r} takes one vector"
                raise Mistakes.one(f"{path}.reduce_dependencies", f"{found}: name a reduction")
            reduction = Reduction(feature.reduce_dependencies, steps, other)
            self.seen[module_key(name)] = reduction
            self.output_size += reduction.output_size

    def forward(self, combined: State, states: Mapping[str, State]) -> State:
        if self._takes_sequences:
            return _beside_each_step(combined, [states[name] for name in self._names])
        parts = [_vector(combined, self.reduction)]
        for name in self._names:
            key = module_key(name)
            parts.append(_vector(states[name], self.seen[key] if key in self.seen else None))  # noqa: SIM401
        return parts[0] if len(parts) == 1 else torch.cat(parts, 1)


def _vector(state: State, reduction: nn.Module | None) -> torch.Tensor:
    if reduction is None:
        assert isinstance(state, torch.Tensor)
        return state
    values, mask = (state.values, state.mask) if isinstance(state, Steps) else (state, None)
    vector: torch.Tensor = reduction(values, mask)
    return vector


def _beside_each_step(combined: State, others: Sequence[State]) -> Steps:
    if not isinstance(combined, Steps):  # a sequence of which all steps count
        rows, length, _ = combined.shape
        combined = Steps(combined, torch.full((rows,), length, dtype=torch.int64, device=combined.device))
    length = combined.values.shape[1]
    parts = [one.values if isinstance(one, Steps) else one.unsqueeze(1).expand(-1, length, -1) for one in others]
    return combined.with_values(torch.cat([combined.values, *parts], 2)) if parts else combined


def _reduction(feature: OutputFeature, width: int, length: int | None) -> Reduction | None:
    """The contract refuses a null `reduce_input` if the combiner returns a sequence. A generator has a reduction of its
    own for that case."""
    word = feature.reduce_input or getattr(feature.decoder, "reduce_input", None)
    return None if length is None or word is None else Reduction(word, length, width)
