"""The encoders of the T5 family."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from trainwright_api.config.encoders.text import PretrainedEncoder, PretrainedName
from trainwright_api.schema.fields import Fraction, NonNegativeFloat, PositiveInt, VocabSize


class T5Encoder(PretrainedEncoder):
    """T5."""

    type: Literal["t5"] = Field("t5", description="T5.")
    pretrained_model_name_or_path: PretrainedName = "t5-small"
    vocab_size: VocabSize = 32128
    d_model: PositiveInt = Field(512, description="Hidden size of the transformer blocks.")
    d_kv: PositiveInt = Field(64, description="Size of one attention head.")
    d_ff: PositiveInt = Field(2048, description="Width of the feed-forward layer of each transformer block.")
    num_layers: PositiveInt = Field(6, description="Number of transformer blocks.")
    num_decoder_layers: PositiveInt = Field(6, description="Number of decoder blocks.")
    num_heads: PositiveInt = Field(8, description="Number of attention heads.")
    relative_attention_num_buckets: PositiveInt = Field(32, description="Number of buckets of relative positions.")
    dropout_rate: Fraction = Field(0.1, description="Dropout rate of the activations.")
    layer_norm_eps: NonNegativeFloat = Field(1e-06, description="Epsilon of the layer norm, added to the variance.")
    initializer_factor: NonNegativeFloat = Field(1.0, description="Factor on the initial weights.")
    feed_forward_proj: Literal["relu", "gated-gelu"] = Field("relu", description="Type of the feed-forward layers.")


class MT5Encoder(PretrainedEncoder):
    """mT5, for many languages."""

    type: Literal["mt5"] = Field("mt5", description="mT5, for many languages.")
    pretrained_model_name_or_path: PretrainedName = "google/mt5-base"
    vocab_size: VocabSize = 250112
    d_model: PositiveInt = Field(512, description="Hidden size of the transformer blocks.")
    d_kv: PositiveInt = Field(64, description="Size of one attention head.")
    d_ff: PositiveInt = Field(1024, description="Width of the feed-forward layer of each transformer block.")
    num_layers: PositiveInt = Field(8, description="Number of transformer blocks.")
    num_decoder_layers: PositiveInt | None = Field(None, description="Number of decoder blocks.")
    num_heads: PositiveInt = Field(6, description="Number of attention heads.")
    relative_attention_num_buckets: PositiveInt = Field(32, description="Number of buckets of relative positions.")
    dropout_rate: Fraction = Field(0.1, description="Dropout rate of the activations.")
    layer_norm_epsilon: NonNegativeFloat = Field(1e-06, description="Epsilon of the layer norm, added to the variance.")
    initializer_factor: NonNegativeFloat = Field(1.0, description="Factor on the initial weights.")
    feed_forward_proj: Literal["relu", "gated-gelu"] = Field(
        "gated-gelu", description="Type of the feed-forward layers."
    )
    is_encoder_decoder: bool = Field(True, description="The model has a decoder.")
    use_cache: bool = Field(True, description="Cache keys and values between steps.")
    tokenizer_class: str = Field("T5Tokenizer", description="Tokenizer class of the transformers library.")
    tie_word_embeddings: bool = Field(False, description="Share the embeddings of input and output.")
    pad_token_id: int = Field(0, description="ID of the padding token.")
    eos_token_id: int = Field(1, description="ID of the end-of-sequence token.")
    decoder_start_token_id: int = Field(0, description="ID of the decoder's start token.")
