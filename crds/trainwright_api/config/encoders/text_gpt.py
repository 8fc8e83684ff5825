"""The encoders that were trained to write on."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.config.encoders.text import PretrainedEncoder, PretrainedName
from trainwright_api.schema.fields import Fraction, NonNegativeFloat, PositiveInt, VocabSize


class CTRLEncoder(PretrainedEncoder):
    """CTRL."""

    type: Literal["ctrl"] = Field("ctrl", description="CTRL.")
    pretrained_model_name_or_path: PretrainedName = "ctrl"
    vocab_size: VocabSize = 246534
    n_positions: PositiveInt = Field(256, description="Longest sequence that has positions, in tokens.")
    n_ctx: PositiveInt = Field(256, description="Longest context, in tokens.")
    n_embd: PositiveInt = Field(1280, description="Width of the token vectors and blocks.")
    dff: PositiveInt = Field(8192, description="Width of the fully connected layer of each block.")
    n_layer: PositiveInt = Field(48, description="Number of blocks.")
    n_head: PositiveInt = Field(16, description="Number of attention heads.")
    resid_pdrop: Fraction = Field(0.1, description="Dropout of the fully connected layers.")
    embd_pdrop: Fraction = Field(0.1, description="Dropout of the token vectors.")
    attn_pdrop: Fraction = Field(0.1, description="Dropout of the attention.")
    layer_norm_epsilon: NonNegativeFloat = Field(1e-06, description="Added to the variance of the layer norm.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the weights at the beginning.")


class GPTEncoder(PretrainedEncoder):
    """GPT."""

    type: Literal["gpt"] = Field("gpt", description="GPT.")
    pretrained_model_name_or_path: PretrainedName = "openai-gpt"
    vocab_size: VocabSize = 30522
    n_positions: PositiveInt = Field(40478, description="Longest sequence that has positions, in tokens.")
    n_ctx: PositiveInt = Field(512, description="Longest context, in tokens.")
    n_embd: PositiveInt = Field(768, description="Width of the token vectors and blocks.")
    n_layer: PositiveInt = Field(12, description="Number of blocks.")
    n_head: PositiveInt = Field(12, description="Number of attention heads.")
    afn: Literal["gelu", "relu", "silu"] = Field("gelu", description="Function within the blocks.")
    resid_pdrop: Fraction = Field(0.1, description="Dropout of the fully connected layers.")
    embd_pdrop: Fraction = Field(0.1, description="Dropout of the token vectors.")
    attn_pdrop: Fraction = Field(0.1, description="Dropout of the attention.")
    layer_norm_epsilon: NonNegativeFloat = Field(1e-05, description="Added to the variance of the layer norm.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the weights at the beginning.")


class GPT2Encoder(PretrainedEncoder):
    """GPT-2."""

    type: Literal["gpt2"] = Field("gpt2", description="GPT-2.")
    pretrained_model_name_or_path: PretrainedName = "gpt2"
    vocab_size: VocabSize = 50257
    n_positions: PositiveInt = Field(1024, description="Longest sequence that has positions, in tokens.")
    n_ctx: PositiveInt = Field(1024, description="Longest context, in tokens.")
    n_embd: PositiveInt = Field(768, description="Width of the token vectors and blocks.")
    n_layer: PositiveInt = Field(12, description="Number of blocks.")
    n_head: PositiveInt = Field(12, description="Number of attention heads.")
    n_inner: PositiveInt | None = Field(
        None, description="Width of the fully connected layer of each block; null for 4 × n_embd."
    )
    activation_function: Literal["relu", "silu", "gelu", "tanh", "gelu_new"] = Field(
        "gelu_new", description="Function within the blocks."
    )
    resid_pdrop: Fraction = Field(0.1, description="Dropout of the fully connected layers.")
    embd_pdrop: Fraction = Field(0.1, description="Dropout of the token vectors.")
    attn_pdrop: Fraction = Field(0.1, description="Dropout of the attention.")
    layer_norm_epsilon: NonNegativeFloat = Field(1e-05, description="Added to the variance of the layer norm.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the weights at the beginning.")
    scale_attn_weights: bool = Field(True, description="Whether attention is divided by the root of its width.")


class TransformerXLEncoder(PretrainedEncoder):
    """Transformer-XL."""

    type: Literal["transformer_xl"] = Field("transformer_xl", description="Transformer-XL.")
    pretrained_model_name_or_path: PretrainedName = "transfo-xl-wt103"
    vocab_size: VocabSize = 267735
    cutoffs: list[int] = Field(
        [20000, 40000, 200000], description="Ranks at which the adaptive softmax begins a new cluster."
    )
    d_model: PositiveInt = Field(1024, description="Width of the blocks.")
    d_embed: PositiveInt = Field(1024, description="Width of the token vectors.")
    n_head: PositiveInt = Field(16, description="Number of attention heads.")
    d_head: PositiveInt = Field(64, description="Width of one attention head.")
    d_inner: PositiveInt = Field(4096, description="Width of the fully connected layer of each block.")
    div_val: PositiveInt = Field(4, description="Divisor of the width from one cluster to the next.")
    pre_lnorm: bool = Field(False, description="Whether the layer norm stands before the blocks.")
    n_layer: PositiveInt = Field(18, description="Number of blocks.")
    mem_len: PositiveInt = Field(1600, description="Steps that are remembered.")
    clamp_len: PositiveInt = Field(1000, description="Distance from which positions count as equal; -1 for never.")
    same_length: bool = Field(True, description="Whether every token sees equally many others.")
    proj_share_all_but_first: bool = Field(True, description="Whether all clusters but the first share a projection.")
    attn_type: Annotated[int, Field(ge=0, le=3)] = Field(0, description="Kind of the attention.")
    sample_softmax: int = Field(-1, description="Number of samples of the softmax; -1 for all.")
    adaptive: bool = Field(True, description="Whether the softmax is adaptive.")
    dropout: Fraction = Field(0.1, description="Share of the activations set to zero while training.")
    dropatt: Fraction = Field(0.0, description="Dropout of the attention.")
    untie_r: bool = Field(True, description="Whether each block has its own position biases.")
    init: str = Field("normal", description="Distribution of the weights at the beginning.")
    init_range: NonNegativeFloat = Field(0.01, description="Range of evenly distributed weights at the beginning.")
    proj_init_std: NonNegativeFloat = Field(0.01, description="Standard deviation of the projections at the beginning.")
    init_std: NonNegativeFloat = Field(0.02, description="Standard deviation of the weights at the beginning.")
    layer_norm_epsilon: NonNegativeFloat = Field(1e-05, description="Added to the variance of the layer norm.")
    eos_token_id: int = Field(0, description="Number of the token that ends a sequence.")


class XLNetEncoder(PretrainedEncoder):
    """XLNet."""

    type: Literal["xlnet"] = Field("xlnet", description="XLNet.")
    pretrained_model_name_or_path: PretrainedName = "xlnet-base-cased"
    vocab_size: VocabSize = 32000
    d_model: PositiveInt = Field(768, description="Width of the blocks.")
    n_layer: PositiveInt = Field(12, description="Number of blocks.")
    n_head: PositiveInt = Field(12, description="Number of attention heads.")
    d_inner: PositiveInt = Field(3072, description="Width of the fully connected layer of each block.")
    ff_activation: Literal["gelu", "relu", "silu", "gelu_new"] = Field(
        "gelu", description="Function within the blocks."
    )
    untie_r: bool = Field(True, description="Whether each block has its own position biases.")
    attn_type: Literal["bi"] = Field("bi", description="Kind of the attention.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the weights at the beginning.")
    layer_norm_eps: NonNegativeFloat = Field(1e-12, description="Added to the variance of the layer norm.")
    dropout: Fraction = Field(0.1, description="Share of the activations set to zero while training.")
    mem_len: PositiveInt | None = Field(None, description="Steps that are remembered.")
    reuse_len: PositiveInt | None = Field(None, description="Steps of a batch that the next one remembers.")
    use_mems_eval: bool = Field(True, description="Whether evaluation remembers earlier steps.")
    use_mems_train: bool = Field(False, description="Whether training remembers earlier steps.")
    bi_data: bool = Field(False, description="Whether the pretraining read in both directions.")
    clamp_len: int = Field(-1, description="Distance from which positions count as equal; -1 for never.")
    same_length: bool = Field(False, description="Whether every token sees equally many others.")
    summary_type: Literal["last", "first", "mean", "cls_index", "attn"] = Field(
        "last", description="How a sequence is summed up."
    )
    summary_use_proj: bool = Field(True, description="Whether the summary passes through a layer.")
    summary_activation: str = Field("tanh", description="Function after that layer.")
    summary_last_dropout: Fraction = Field(0.1, description="Dropout of the summary.")
    start_n_top: PositiveInt = Field(5, description="Number of starts that a beam search keeps.")
    end_n_top: PositiveInt = Field(5, description="Number of ends that a beam search keeps.")
    pad_token_id: int = Field(5, description="Number of the token that pads.")
    bos_token_id: int = Field(1, description="Number of the token that begins a sequence.")
    eos_token_id: int = Field(2, description="Number of the token that ends a sequence.")
