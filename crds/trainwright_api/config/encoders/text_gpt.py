"""The encoders of autoregressive language models."""

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
    n_positions: PositiveInt = Field(256, description="Maximum sequence length of the position embeddings, in tokens.")
    n_ctx: PositiveInt = Field(256, description="Maximum context length in tokens.")
    n_embd: PositiveInt = Field(1280, description="Embedding size of the tokens and hidden size of the blocks.")
    dff: PositiveInt = Field(8192, description="Width of the feed-forward layer of each transformer block.")
    n_layer: PositiveInt = Field(48, description="Number of transformer blocks.")
    n_head: PositiveInt = Field(16, description="Number of attention heads.")
    resid_pdrop: Fraction = Field(0.1, description="Dropout rate of the residual connections.")
    embd_pdrop: Fraction = Field(0.1, description="Dropout rate of the embeddings.")
    attn_pdrop: Fraction = Field(0.1, description="Dropout rate of the attention weights.")
    layer_norm_epsilon: NonNegativeFloat = Field(1e-06, description="Epsilon of the layer norm, added to the variance.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the initial weights.")


class GPTEncoder(PretrainedEncoder):
    """GPT."""

    type: Literal["gpt"] = Field("gpt", description="GPT.")
    pretrained_model_name_or_path: PretrainedName = "openai-gpt"
    vocab_size: VocabSize = 30522
    n_positions: PositiveInt = Field(
        40478, description="Maximum sequence length of the position embeddings, in tokens."
    )
    n_ctx: PositiveInt = Field(512, description="Maximum context length in tokens.")
    n_embd: PositiveInt = Field(768, description="Embedding size of the tokens and hidden size of the blocks.")
    n_layer: PositiveInt = Field(12, description="Number of transformer blocks.")
    n_head: PositiveInt = Field(12, description="Number of attention heads.")
    afn: Literal["gelu", "relu", "silu"] = Field("gelu", description="Activation function of the feed-forward layers.")
    resid_pdrop: Fraction = Field(0.1, description="Dropout rate of the residual connections.")
    embd_pdrop: Fraction = Field(0.1, description="Dropout rate of the embeddings.")
    attn_pdrop: Fraction = Field(0.1, description="Dropout rate of the attention weights.")
    layer_norm_epsilon: NonNegativeFloat = Field(1e-05, description="Epsilon of the layer norm, added to the variance.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the initial weights.")


class GPT2Encoder(PretrainedEncoder):
    """GPT-2."""

    type: Literal["gpt2"] = Field("gpt2", description="GPT-2.")
    pretrained_model_name_or_path: PretrainedName = "gpt2"
    vocab_size: VocabSize = 50257
    n_positions: PositiveInt = Field(1024, description="Maximum sequence length of the position embeddings, in tokens.")
    n_ctx: PositiveInt = Field(1024, description="Maximum context length in tokens.")
    n_embd: PositiveInt = Field(768, description="Embedding size of the tokens and hidden size of the blocks.")
    n_layer: PositiveInt = Field(12, description="Number of transformer blocks.")
    n_head: PositiveInt = Field(12, description="Number of attention heads.")
    n_inner: PositiveInt | None = Field(
        None, description="Width of the feed-forward layer of each block. null: 4 × n_embd."
    )
    activation_function: Literal["relu", "silu", "gelu", "tanh", "gelu_new"] = Field(
        "gelu_new", description="Activation function of the feed-forward layers."
    )
    resid_pdrop: Fraction = Field(0.1, description="Dropout rate of the residual connections.")
    embd_pdrop: Fraction = Field(0.1, description="Dropout rate of the embeddings.")
    attn_pdrop: Fraction = Field(0.1, description="Dropout rate of the attention weights.")
    layer_norm_epsilon: NonNegativeFloat = Field(1e-05, description="Epsilon of the layer norm, added to the variance.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the initial weights.")
    scale_attn_weights: bool = Field(True, description="Scale the attention weights by the square root of their width.")


class TransformerXLEncoder(PretrainedEncoder):
    """Transformer-XL."""

    type: Literal["transformer_xl"] = Field("transformer_xl", description="Transformer-XL.")
    pretrained_model_name_or_path: PretrainedName = "transfo-xl-wt103"
    vocab_size: VocabSize = 267735
    cutoffs: list[int] = Field([20000, 40000, 200000], description="Cutoffs of the adaptive softmax.")
    d_model: PositiveInt = Field(1024, description="Hidden size of the transformer blocks.")
    d_embed: PositiveInt = Field(1024, description="Embedding size of the tokens.")
    n_head: PositiveInt = Field(16, description="Number of attention heads.")
    d_head: PositiveInt = Field(64, description="Size of one attention head.")
    d_inner: PositiveInt = Field(4096, description="Width of the feed-forward layer of each transformer block.")
    div_val: PositiveInt = Field(4, description="Divisor of the embedding size from one cluster to the next.")
    pre_lnorm: bool = Field(False, description="Apply the layer norm before instead of after each block.")
    n_layer: PositiveInt = Field(18, description="Number of transformer blocks.")
    mem_len: PositiveInt = Field(1600, description="Length of the memory in steps.")
    clamp_len: PositiveInt = Field(1000, description="Clamp relative positions beyond this distance. -1: never.")
    same_length: bool = Field(True, description="Use the same attention length for all tokens.")
    proj_share_all_but_first: bool = Field(True, description="Share the projection in all clusters except the first.")
    attn_type: Annotated[int, Field(ge=0, le=3)] = Field(0, description="Type of the attention.")
    sample_softmax: int = Field(-1, description="Number of samples of the sampled softmax. -1: no sampling.")
    adaptive: bool = Field(True, description="Use the adaptive softmax.")
    dropout: Fraction = Field(0.1, description="Dropout rate of the activations.")
    dropatt: Fraction = Field(0.0, description="Dropout rate of the attention weights.")
    untie_r: bool = Field(True, description="Do not share the position biases between blocks.")
    init: str = Field("normal", description="Distribution of the initial weights.")
    init_range: NonNegativeFloat = Field(0.01, description="Range of uniformly distributed initial weights.")
    proj_init_std: NonNegativeFloat = Field(0.01, description="Standard deviation of the initial projection weights.")
    init_std: NonNegativeFloat = Field(0.02, description="Standard deviation of the initial weights.")
    layer_norm_epsilon: NonNegativeFloat = Field(1e-05, description="Epsilon of the layer norm, added to the variance.")
    eos_token_id: int = Field(0, description="ID of the end-of-sequence token.")


class XLNetEncoder(PretrainedEncoder):
    """XLNet."""

    type: Literal["xlnet"] = Field("xlnet", description="XLNet.")
    pretrained_model_name_or_path: PretrainedName = "xlnet-base-cased"
    vocab_size: VocabSize = 32000
    d_model: PositiveInt = Field(768, description="Hidden size of the transformer blocks.")
    n_layer: PositiveInt = Field(12, description="Number of transformer blocks.")
    n_head: PositiveInt = Field(12, description="Number of attention heads.")
    d_inner: PositiveInt = Field(3072, description="Width of the feed-forward layer of each transformer block.")
    ff_activation: Literal["gelu", "relu", "silu", "gelu_new"] = Field(
        "gelu", description="Activation function of the feed-forward layers."
    )
    untie_r: bool = Field(True, description="Do not share the position biases between blocks.")
    attn_type: Literal["bi"] = Field("bi", description="Type of the attention.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the initial weights.")
    layer_norm_eps: NonNegativeFloat = Field(1e-12, description="Epsilon of the layer norm, added to the variance.")
    dropout: Fraction = Field(0.1, description="Dropout rate of the activations.")
    mem_len: PositiveInt | None = Field(None, description="Length of the memory in steps.")
    reuse_len: PositiveInt | None = Field(None, description="Number of steps of a batch that the next batch reuses.")
    use_mems_eval: bool = Field(True, description="Use the memory in evaluation.")
    use_mems_train: bool = Field(False, description="Use the memory in training.")
    bi_data: bool = Field(False, description="The pretraining used bidirectional input.")
    clamp_len: int = Field(-1, description="Clamp relative positions beyond this distance. -1: never.")
    same_length: bool = Field(False, description="Use the same attention length for all tokens.")
    summary_type: Literal["last", "first", "mean", "cls_index", "attn"] = Field(
        "last", description="Type of the sequence summary."
    )
    summary_use_proj: bool = Field(True, description="Apply a projection to the summary.")
    summary_activation: str = Field("tanh", description="Activation function of the summary.")
    summary_last_dropout: Fraction = Field(0.1, description="Dropout rate of the summary.")
    start_n_top: PositiveInt = Field(5, description="Number of start positions that the beam search keeps.")
    end_n_top: PositiveInt = Field(5, description="Number of end positions that the beam search keeps.")
    pad_token_id: int = Field(5, description="ID of the padding token.")
    bos_token_id: int = Field(1, description="ID of the beginning-of-sequence token.")
    eos_token_id: int = Field(2, description="ID of the end-of-sequence token.")
