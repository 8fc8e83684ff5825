"""The weights of classes and tokens in a loss."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch

from trainwright_api.problems import Mistakes, nearest

UNKNOWN, END = "<UNK>", "<EOS>"
"""The labels of unknown tokens and of the end of a generated sequence. A mapping may leave them out."""


def class_weights(
    given: Sequence[float] | Mapping[str, float] | None, labels: Sequence[str], path: str
) -> torch.Tensor | None:
    """One weight a class, in the vocabulary's order. Raises `Mistakes` if classes and weights do not match."""
    if given is None:
        return None
    path = f"{path}.class_weights"
    if isinstance(given, Mapping):
        given = _by_label(given, labels, path)
    if len(given) != len(labels):
        names = ", ".join(labels[:10]) + (", …" if len(labels) > 10 else "")
        raise Mistakes.one(path, f"lists {len(given)} weights for {len(labels)} classes: {names}.")
    return torch.tensor(given, dtype=torch.float64)


def _by_label(given: Mapping[str, float], labels: Sequence[str], path: str) -> list[float]:
    for label in given:
        if label not in labels:
            near = nearest(label, labels)
            hint = f": did you mean {near!r}?" if near else "."
            raise Mistakes.one(f"{path}.{label}", f"is no class of the target{hint}")
    missing = [label for label in labels if label not in given and label not in (UNKNOWN, END)]
    if missing:
        raise Mistakes.one(path, f"gives no weight to {', '.join(map(repr, missing[:10]))}.")
    return [given.get(label, 1.0) for label in labels]
