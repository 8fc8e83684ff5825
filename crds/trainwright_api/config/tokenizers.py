"""The words that name a tokenizer."""

from __future__ import annotations

from itertools import product
from typing import Annotated

from pydantic import AfterValidator, Field

from trainwright_api.schema.section import unknown_word

_LANGUAGES = (
    *("english", "italian", "spanish", "german", "french", "portuguese", "dutch", "greek", "norwegian", "lithuanian"),
    *("danish", "polish", "romanian", "japanese", "chinese", "multi"),
)
_VERBS = ("tokenize", "lemmatize")
_MANNERS = ("", "_filter", "_remove_stopwords")
TOKENIZERS = (
    *("space", "space_punct", "characters", "underscore", "comma", "untokenized", "stripped", "ngram"),
    *(f"{language}_{verb}{manner}" for language, verb, manner in product(_LANGUAGES, _VERBS, _MANNERS)),
    *("sentencepiece", "clip", "gpt2bpe", "bert", "hf_tokenizer"),
)
"""All words, the plain ones first."""


def _known(word: str) -> str:
    if word not in TOKENIZERS:
        raise unknown_word("tokenizer", word, TOKENIZERS)
    return word


Tokenizer = Annotated[str, AfterValidator(_known), Field(description="Tokenizer.")]
