"""The initializers of parameters: the functions of `torch.nn.init`, by name.

All of them draw from torch's global generator, which the model seeds once, so the initial weights of a model depend on
its config and the seed alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from torch.nn import init

from trainwright_api.config.initializers import AnyInitializer, initializer_parts
from trainwright_api.problems import Mistakes

FUNCTIONS: Mapping[str, Callable[..., torch.Tensor]] = {
    "constant": init.constant_,
    "dirac": init.dirac_,
    "eye": init.eye_,
    "identity": init.eye_,
    "kaiming_normal": init.kaiming_normal_,
    "kaiming_uniform": init.kaiming_uniform_,
    "normal": init.normal_,
    "ones": init.ones_,
    "orthogonal": init.orthogonal_,
    "sparse": init.sparse_,
    "uniform": init.uniform_,
    "xavier_normal": init.xavier_normal_,
    "xavier_uniform": init.xavier_uniform_,
    "zeros": init.zeros_,
}
# The contract's defaults for initializers that are given by name alone and have no default in torch.
_ALONE: Mapping[str, Mapping[str, float]] = {"constant": {"val": 0.0}, "sparse": {"sparsity": 0.1}}
# All others need rows and columns.
_ANY_SHAPE = frozenset({"constant", "normal", "ones", "uniform", "zeros"})


@torch.no_grad()
def initialize(tensor: torch.Tensor, initializer: AnyInitializer, path: str) -> None:
    """Fill `tensor` in place. `path` is the config path of the initializer.

    Raises `Mistakes` for an initializer that cannot fill this shape, such as `orthogonal` for a bias.
    """
    word, parameters = initializer_parts(initializer)
    if not _fits(word, tensor):
        shape = " × ".join(map(str, tensor.shape))
        raise Mistakes.one(path, f"{word!r} cannot fill values of shape {shape}. One that can: 'normal'.")
    FUNCTIONS[word](tensor, **(parameters or _ALONE.get(word, {})))


def _fits(word: str, tensor: torch.Tensor) -> bool:
    if word == "dirac":
        return tensor.ndim in (3, 4, 5)
    return word in _ANY_SHAPE or tensor.ndim == 2
