"""The pretrained text models that lie in the local cache of the Hugging Face hub. Nothing is fetched."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec

MODELS = (
    ("bert", "bert-base-uncased"),
    ("distilbert", "distilbert-base-uncased"),
    ("roberta", "roberta-base"),
    ("electra", "google/electra-small-discriminator"),
    ("albert", "albert-base-v2"),
)
"""The word of the encoder and the name of the model, in the order of preference."""
_FILES = ("config.json", "tokenizer.json", "model.safetensors")


def cached_models() -> Iterator[tuple[str, str]]:
    """Those of `MODELS` whose files are there, if the library transformers is installed."""
    if find_spec("transformers") is None:
        return
    look = import_module("huggingface_hub").try_to_load_from_cache
    for word, name in MODELS:
        if all(isinstance(look(name, file), str) for file in _FILES):
            yield word, name


def frozen(word: str, name: str) -> dict[str, object]:
    """A frozen encoder."""
    return {"type": word, "pretrained_model_name_or_path": name, "trainable": False}


TRAINER = {
    "batch_size": "auto",
    "learning_rate": 0.00002,
    "learning_rate_scheduler": {"warmup_fraction": 0.2, "decay": "linear"},
    "optimizer": {"type": "adamw"},
    "use_mixed_precision": True,
    "evaluate_training_set": False,
}
"""Ludwig's suggestion for frozen encoders with cached embeddings (version 0.7)."""
