"""The files of a pretrained model in a folder, and texts that its tokenizer reads."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from trainwright_api.config.preprocessing.text import TextPreprocessing
from trainwright_api.problems import Mistakes
from trainwright_trainer.features import text
from trainwright_trainer.features.column import Feature
from trainwright_trainer.features.pretrained import files_of

AT = "config.input_features[0].preprocessing.pretrained_model_name_or_path"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return with_words(tmp_path, "a", "b")


def with_words(folder: Path, *words: str) -> Path:
    """Write a tokenizer of these words and a configuration into the folder."""
    from tokenizers import Tokenizer, models, processors
    from transformers import BertConfig, PreTrainedTokenizerFast

    made = Tokenizer(models.WordLevel({word: at for at, word in enumerate(("<unk>", *words))}, unk_token="<unk>"))
    made.post_processor = processors.TemplateProcessing(single="a $A b", special_tokens=[("a", 1), ("b", 2)])
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


@pytest.mark.parametrize("length", [1, 2])
def test_a_length_without_a_place_for_a_token_of_the_text_is_refused(length: int, folder: Path) -> None:
    """The tokenizer adds two. Texts were whole, whatever their length, with 1, and all equal with 2."""
    options = {"pretrained_model_name_or_path": str(folder), "max_sequence_length": length}
    section = TextPreprocessing.model_validate({"tokenizer": "hf_tokenizer", **options})
    made = Feature("x", "x", "text", False, section, "config.input_features[0]")
    values = text.clean(made, pa.array(["b a b"]), 0).values
    with pytest.raises(Mistakes, match=f"texts keep {length} tokens, and the tokenizer adds 2 to each: keep more"):
        text.conclude(made, [text.observe(made, values, {})], {})
