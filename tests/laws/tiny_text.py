"""Tiny models of the transformers library with random weights, and a data set of texts for them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch

from trainwright_trainer.encoders.text_models import FAMILIES

WORDS = ["good", "bad", "fine", "awful", "the", "a", "movie", "film"]
BERT = {"hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 8}
_T5 = {"d_model": 8, "d_kv": 4, "d_ff": 8, "num_layers": 2, "num_heads": 2}
_SIZED = {"longformer": {**BERT, "attention_window": [4, 4]}}
"""Sizes that the sections of the contract lack."""
SMALL: Mapping[str, Mapping[str, Any]] = {
    "albert": {**BERT, "embedding_size": 8},
    "bert": BERT,
    "distilbert": {"dim": 8, "n_layers": 2, "n_heads": 2, "hidden_dim": 8},
    "electra": {**BERT, "embedding_size": 8},
    "camembert": BERT,
    "ctrl": {"n_embd": 8, "n_layer": 2, "n_head": 2, "dff": 8},
    "deberta": {**BERT, "position_buckets": 4},
    "gpt": {"n_embd": 8, "n_layer": 2, "n_head": 2, "n_positions": 32},
    "gpt2": {"n_embd": 8, "n_layer": 2, "n_head": 2, "n_positions": 32},
    "longformer": {"attention_window": 4, "max_position_embeddings": 64},
    "mt5": _T5,
    "t5": _T5,
    "xlm": {"emb_dim": 8, "n_layers": 2, "n_heads": 2},
    "xlnet": {"d_model": 8, "n_layer": 2, "n_head": 2, "d_inner": 8},
    "roberta": BERT,
    "xlmroberta": BERT,
}


def make_home(home: Path, *, drops: bool = True) -> Path:
    """Write a tokenizer, tiny models of all families with random weights, and a data set. Returns the folder.

    `drops`: the models have the dropout of their families.
    """
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

    marks = ["<pad>", "<unk>", "<s>", "</s>"]
    made = Tokenizer(models.WordLevel({word: at for at, word in enumerate([*marks, *WORDS])}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(single="<s> $A </s>", special_tokens=[("<s>", 2), ("</s>", 3)])
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", unk_token="<unk>", model_max_length=16
    )
    torch.manual_seed(0)
    for word, fields in SMALL.items():
        config = AutoConfig.for_model(
            FAMILIES[word], vocab_size=12, pad_token_id=0, **{**fields, **_SIZED.get(word, {})}
        )
        for name, value in config.to_dict().items():
            if not drops and isinstance(value, float) and "drop" in name:
                setattr(config, name, 0.0)
        AutoModel.from_config(config).save_pretrained(home / word)
        tokenizer.save_pretrained(home / word)
    draws = np.random.default_rng(0)
    texts = [" ".join(draws.choice(WORDS, draws.integers(0, 9))) for _ in range(200)]
    late = ["yes" if "good" in text or "fine" in text else "no" for text in texts]
    pd.DataFrame({"review": texts, "late": late}).to_parquet(home / "rows.parquet")
    return home


def job(home: Path, word: str = "bert", **encoder: Any) -> dict[str, Any]:
    own = {"type": word, "pretrained_model_name_or_path": str(home / word), **encoder}
    return {
        "dataset": str(home / "rows.parquet"),
        "config": {
            "input_features": [{"name": "review", "type": "text", "encoder": own}],
            "output_features": [{"name": "late", "type": "binary"}],
            "trainer": {"epochs": 3, "batch_size": 16, "learning_rate": 0.01},
        },
    }
