"""The encoders of the XLM family."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from trainwright_api.config.encoders.text import PretrainedEncoder, PretrainedName
from trainwright_api.schema.fields import Fraction, NonNegativeFloat, NonNegativeInt, PositiveInt, VocabSize


class XLMEncoder(PretrainedEncoder):
    """XLM, for many languages."""

    type: Literal["xlm"] = Field("xlm", description="XLM, for many languages.")
    pretrained_model_name_or_path: PretrainedName = "xlm-mlm-en-2048"
    vocab_size: VocabSize = 30145
    emb_dim: PositiveInt = Field(2048, description="Width of the token vectors and blocks.")
    n_layers: PositiveInt = Field(12, description="Number of blocks.")
    n_heads: PositiveInt = Field(16, description="Number of attention heads.")
    dropout: Fraction = Field(0.1, description="Share of the activations set to zero while training.")
    attention_dropout: Fraction = Field(0.1, description="Share of the attention set to zero while training.")
    gelu_activation: bool = Field(True, description="Whether the blocks use gelu rather than relu.")
    sinusoidal_embeddings: bool = Field(False, description="Whether positions are waves rather than learnt.")
    causal: bool = Field(False, description="Whether a token sees only those before it.")
    asm: bool = Field(False, description="Whether the pretraining used an adaptive softmax.")
    n_langs: PositiveInt = Field(1, description="Number of languages.")
    use_lang_emb: bool = Field(True, description="Whether each language has a vector.")
    max_position_embeddings: PositiveInt = Field(512, description="Longest sequence that has positions, in tokens.")
    embed_init_std: NonNegativeFloat = Field(
        2048**-0.5, description="Standard deviation of the token vectors at the beginning."
    )
    layer_norm_eps: NonNegativeFloat = Field(1e-12, description="Added to the variance of the layer norm.")
    init_std: NonNegativeFloat = Field(0.02, description="Standard deviation of the weights at the beginning.")
    bos_index: NonNegativeInt = Field(0, description="Number of the token that begins a sequence.")
    eos_index: NonNegativeInt = Field(1, description="Number of the token that ends a sequence.")
    pad_index: NonNegativeInt = Field(2, description="Number of the token that pads.")
    unk_index: NonNegativeInt = Field(3, description="Number of the token for what is unknown.")
    mask_index: NonNegativeInt = Field(5, description="Number of the token that masks.")
    is_encoder: bool = Field(True, description="Whether the model is an encoder.")
    start_n_top: PositiveInt = Field(5, description="Number of starts that a beam search keeps.")
    end_n_top: PositiveInt = Field(5, description="Number of ends that a beam search keeps.")
    mask_token_id: int = Field(0, description="Number of the token that masks, for generation.")
    lang_id: int = Field(0, description="Number of the language, for generation.")
    pad_token_id: int = Field(2, description="Number of the token that pads.")
    bos_token_id: int = Field(0, description="Number of the token that begins a sequence.")


class FlauBERTEncoder(PretrainedEncoder):
    """FlauBERT, for French."""

    type: Literal["flaubert"] = Field("flaubert", description="FlauBERT, for French.")
    pretrained_model_name_or_path: PretrainedName = "flaubert/flaubert_small_cased"
    vocab_size: VocabSize = 30145
    pre_norm: bool = Field(True, description="Whether the layer norm stands before the blocks.")
    layerdrop: Fraction = Field(0.2, description="Share of the blocks left out while training.")
    emb_dim: PositiveInt = Field(512, description="Width of the token vectors and blocks.")
    n_layers: PositiveInt = Field(6, description="Number of blocks.")
    n_heads: PositiveInt = Field(8, description="Number of attention heads.")
    dropout: Fraction = Field(0.1, description="Share of the activations set to zero while training.")
    attention_dropout: Fraction = Field(0.1, description="Share of the attention set to zero while training.")
    gelu_activation: bool = Field(True, description="Whether the blocks use gelu rather than relu.")
    sinusoidal_embeddings: bool = Field(False, description="Whether positions are waves rather than learnt.")
    causal: bool = Field(False, description="Whether a token sees only those before it.")
    asm: bool = Field(False, description="Whether the pretraining used an adaptive softmax.")
    n_langs: PositiveInt = Field(1, description="Number of languages.")
    use_lang_emb: bool = Field(True, description="Whether each language has a vector.")
    max_position_embeddings: PositiveInt = Field(512, description="Longest sequence that has positions, in tokens.")
    embed_init_std: NonNegativeFloat = Field(
        2048**-0.5, description="Standard deviation of the token vectors at the beginning."
    )
    init_std: NonNegativeFloat = Field(0.02, description="Standard deviation of the weights at the beginning.")
    layer_norm_eps: NonNegativeFloat = Field(1e-06, description="Added to the variance of the layer norm.")
    bos_index: NonNegativeInt = Field(0, description="Number of the token that begins a sequence.")
    eos_index: NonNegativeInt = Field(1, description="Number of the token that ends a sequence.")
    pad_index: NonNegativeInt = Field(2, description="Number of the token that pads.")
    unk_index: NonNegativeInt = Field(3, description="Number of the token for what is unknown.")
    mask_index: NonNegativeInt = Field(5, description="Number of the token that masks.")
    is_encoder: bool = Field(True, description="Whether the model is an encoder.")
    mask_token_id: int = Field(0, description="Number of the token that masks, for generation.")
    lang_id: int = Field(0, description="Number of the language, for generation.")
