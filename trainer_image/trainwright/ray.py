"""Replacements for parts that Ray Train has removed, for train functions that were written for it:
`Checkpoint.from_dict`, `to_dict` and `TorchTrainer.restore`."""

from trainwright_trainer.backends.ray.dictionary import Checkpoint, get_checkpoint
from trainwright_trainer.backends.ray.torch_trainer import TorchTrainer

__all__ = ["Checkpoint", "TorchTrainer", "get_checkpoint"]
