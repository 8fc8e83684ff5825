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
    d_model: PositiveInt = Field(512, description="Width of the blocks.")
    d_kv: PositiveInt = Field(64, description="Width of one attention head.")
    d_ff: PositiveInt = Field(2048, description="Width of the fully connected layer of each block.")
    num_layers: PositiveInt = Field(6, description="Number of blocks.")
    num_decoder_layers: PositiveInt = Field(6, description="Number of blocks of the decoder.")
    num_heads: PositiveInt = Field(8, description="Number of attention heads.")
    relative_attention_num_buckets: PositiveInt = Field(
        32, description="Number of distances that the attention tells apart."
    )
    dropout_rate: Fraction = Field(0.1, description="Share of the activations set to zero while training.")
    layer_norm_eps: NonNegativeFloat = Field(1e-06, description="Added to the variance of the layer norm.")
    initializer_factor: NonNegativeFloat = Field(1.0, description="Factor on the weights at the beginning.")
    feed_forward_proj: Literal["relu", "gated-gelu"] = Field("relu", description="Kind of the fully connected layers.")


class MT5Encoder(PretrainedEncoder):
    """mT5, for many languages."""

    type: Literal["mt5"] = Field("mt5", description="mT5, for many languages.")
    pretrained_model_name_or_path: PretrainedName = "google/mt5-base"
    vocab_size: VocabSize = 250112
    d_model: PositiveInt = Field(512, description="Width of the blocks.")
    d_kv: PositiveInt = Field(64, description="Width of one attention head.")
    d_ff: PositiveInt = Field(1024, description="Width of the fully connected layer of each block.")
    num_layers: PositiveInt = Field(8, description="Number of blocks.")
    num_decoder_layers: PositiveInt | None = Field(None, description="Number of blocks of the decoder.")
    num_heads: PositiveInt = Field(6, description="Number of attention heads.")
    relative_attention_num_buckets: PositiveInt = Field(
        32, description="Number of distances that the attention tells apart."
    )
    dropout_rate: Fraction = Field(0.1, description="Share of the activations set to zero while training.")
    layer_norm_epsilon: NonNegativeFloat = Field(1e-06, description="Added to the variance of the layer norm.")
    initializer_factor: NonNegativeFloat = Field(1.0, description="Factor on the weights at the beginning.")
    feed_forward_proj: Literal["relu", "gated-gelu"] = Field(
        "gated-gelu", description="Kind of the fully connected layers."
    )
    is_encoder_decoder: bool = Field(True, description="Whether the model has a decoder.")
    use_cache: bool = Field(True, description="Whether keys and values are kept from step to step.")
    tokenizer_class: str = Field("T5Tokenizer", description="Tokenizer of the transformers library.")
    tie_word_embeddings: bool = Field(False, description="Whether input and output share the token vectors.")
    pad_token_id: int = Field(0, description="Number of the token that pads.")
    eos_token_id: int = Field(1, description="Number of the token that ends a sequence.")
    decoder_start_token_id: int = Field(0, description="Number of the token with which the decoder begins.")
