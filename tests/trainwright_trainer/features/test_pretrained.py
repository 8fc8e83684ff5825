"""The files of a pretrained model in a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from trainwright_trainer.features.pretrained import files_of

AT = "config.input_features[0].preprocessing.pretrained_model_name_or_path"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return with_words(tmp_path, "a", "b")


def with_words(folder: Path, *words: str) -> Path:
    """Write a tokenizer of these words and a configuration into the folder."""
    from tokenizers import Tokenizer, models
    from transformers import BertConfig, PreTrainedTokenizerFast

    made = Tokenizer(models.WordLevel({word: at for at, word in enumerate(("<unk>", *words))}, unk_token="<unk>"))
    PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>").save_pretrained(folder)
    BertConfig(vocab_size=1 + len(words)).save_pretrained(folder)
    return folder


def test_a_folder_is_read_again_after_a_change(folder: Path) -> None:
    """A notebook reads a folder, trains another model, and writes it there."""
    before = files_of(str(folder), AT)
    assert files_of(str(folder), AT) is before
    with_words(folder, "a", "b", "c")
    after = files_of(str(folder), AT)
    assert '"c"' in after.tokenizer
    assert after.config["vocab_size"] == 4
