"""The encoders of the BERT family."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from trainwright_api.config.encoders.text import PretrainedEncoder, PretrainedName, ReducePretrained
from trainwright_api.schema.fields import Fraction, NonNegativeFloat, NonNegativeInt, PositiveInt, VocabSize
from trainwright_api.schema.unions import ByKind


class ALBERTEncoder(PretrainedEncoder):
    """ALBERT."""

    type: Literal["albert"] = Field("albert", description="ALBERT.")
    pretrained_model_name_or_path: PretrainedName = "albert-base-v2"
    reduce_output: ReducePretrained = "cls_pooled"
    vocab_size: VocabSize = 30000
    embedding_size: PositiveInt = Field(128, description="Embedding size of the tokens.")
    hidden_size: PositiveInt = Field(768, description="Hidden size of the transformer blocks.")
    num_hidden_layers: PositiveInt = Field(12, description="Number of transformer blocks.")
    num_hidden_groups: PositiveInt = Field(1, description="Number of groups of transformer blocks that share weights.")
    num_attention_heads: PositiveInt = Field(12, description="Number of attention heads.")
    intermediate_size: PositiveInt = Field(
        3072, description="Width of the feed-forward layer of each transformer block."
    )
    inner_group_num: PositiveInt = Field(1, description="Number of inner repetitions of each transformer block.")
    hidden_act: Literal["gelu", "relu", "silu", "gelu_new"] = Field(
        "gelu_new", description="Activation function of the feed-forward layers."
    )
    hidden_dropout_prob: Fraction = Field(0.0, description="Dropout rate of the activations.")
    attention_probs_dropout_prob: Fraction = Field(0.0, description="Dropout rate of the attention weights.")
    max_position_embeddings: PositiveInt = Field(
        512, description="Maximum sequence length of the position embeddings, in tokens."
    )
    type_vocab_size: PositiveInt = Field(2, description="Size of the token type vocabulary.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the initial weights.")
    layer_norm_eps: NonNegativeFloat = Field(1e-12, description="Epsilon of the layer norm, added to the variance.")
    classifier_dropout_prob: Fraction = Field(0.1, description="Dropout rate of the classifier head.")
    position_embedding_type: Literal["absolute", "relative_key", "relative_key_query"] = Field(
        "absolute", description="Type of the position embeddings."
    )
    pad_token_id: int = Field(0, description="ID of the padding token.")
    bos_token_id: int = Field(2, description="ID of the beginning-of-sequence token.")
    eos_token_id: int = Field(3, description="ID of the end-of-sequence token.")


class BERTEncoder(PretrainedEncoder):
    """BERT."""

    type: Literal["bert"] = Field("bert", description="BERT.")
    pretrained_model_name_or_path: PretrainedName = "bert-base-uncased"
    reduce_output: ReducePretrained = "cls_pooled"
    vocab_size: VocabSize = 30522
    hidden_size: PositiveInt = Field(768, description="Hidden size of the transformer blocks.")
    num_hidden_layers: PositiveInt = Field(12, description="Number of transformer blocks.")
    num_attention_heads: PositiveInt = Field(12, description="Number of attention heads.")
    intermediate_size: PositiveInt = Field(
        3072, description="Width of the feed-forward layer of each transformer block."
    )
    hidden_act: Literal["gelu", "relu", "silu", "gelu_new"] = Field(
        "gelu", description="Activation function of the feed-forward layers."
    )
    hidden_dropout_prob: Fraction = Field(0.1, description="Dropout rate of the activations.")
    attention_probs_dropout_prob: Fraction = Field(0.1, description="Dropout rate of the attention weights.")
    max_position_embeddings: PositiveInt = Field(
        512, description="Maximum sequence length of the position embeddings, in tokens."
    )
    type_vocab_size: PositiveInt = Field(2, description="Size of the token type vocabulary.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the initial weights.")
    layer_norm_eps: NonNegativeFloat = Field(1e-12, description="Epsilon of the layer norm, added to the variance.")
    pad_token_id: int = Field(0, description="ID of the padding token.")
    gradient_checkpointing: bool = Field(
        False, description="Activation checkpointing: recompute activations in the backward pass to save memory."
    )
    position_embedding_type: Literal["absolute", "relative_key", "relative_key_query"] = Field(
        "absolute", description="Type of the position embeddings."
    )
    classifier_dropout: Fraction | None = Field(
        None, description="Dropout rate of the classifier head. null: the model's default."
    )


class CamemBERTEncoder(PretrainedEncoder):
    """CamemBERT, for French."""

    type: Literal["camembert"] = Field("camembert", description="CamemBERT, for French.")
    pretrained_model_name_or_path: PretrainedName = "camembert-base"
    vocab_size: VocabSize = 32005
    hidden_size: PositiveInt = Field(768, description="Hidden size of the transformer blocks.")
    num_hidden_layers: PositiveInt = Field(12, description="Number of transformer blocks.")
    num_attention_heads: PositiveInt = Field(12, description="Number of attention heads.")
    intermediate_size: PositiveInt = Field(
        3072, description="Width of the feed-forward layer of each transformer block."
    )
    hidden_act: Literal["gelu", "relu", "silu", "gelu_new"] = Field(
        "gelu", description="Activation function of the feed-forward layers."
    )
    hidden_dropout_prob: Fraction = Field(0.1, description="Dropout rate of the activations.")
    attention_probs_dropout_prob: Fraction = Field(0.1, description="Dropout rate of the attention weights.")
    max_position_embeddings: PositiveInt = Field(
        514, description="Maximum sequence length of the position embeddings, in tokens."
    )
    type_vocab_size: PositiveInt = Field(1, description="Size of the token type vocabulary.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the initial weights.")
    layer_norm_eps: NonNegativeFloat = Field(1e-05, description="Epsilon of the layer norm, added to the variance.")
    pad_token_id: int = Field(1, description="ID of the padding token.")
    gradient_checkpointing: bool = Field(
        False, description="Activation checkpointing: recompute activations in the backward pass to save memory."
    )
    position_embedding_type: Literal["absolute", "relative_key", "relative_key_query"] = Field(
        "absolute", description="Type of the position embeddings."
    )
    classifier_dropout: Fraction | None = Field(
        None, description="Dropout rate of the classifier head. null: the model's default."
    )


class DebertaV2Encoder(PretrainedEncoder):
    """DeBERTa, version 2 or 3."""

    type: Literal["deberta"] = Field("deberta", description="DeBERTa, version 2 or 3.")
    pretrained_model_name_or_path: PretrainedName = "sileod/deberta-v3-base-tasksource-nli"
    hidden_size: PositiveInt = Field(1536, description="Hidden size of the transformer blocks.")
    num_hidden_layers: PositiveInt = Field(24, description="Number of transformer blocks.")
    num_attention_heads: PositiveInt = Field(24, description="Number of attention heads.")
    intermediate_size: PositiveInt = Field(
        6144, description="Width of the feed-forward layer of each transformer block."
    )
    hidden_act: Literal["gelu", "relu", "silu", "tanh", "gelu_fast", "mish", "linear", "sigmoid", "gelu_new"] = Field(
        "gelu", description="Activation function of the feed-forward layers."
    )
    hidden_dropout_prob: Fraction = Field(0.1, description="Dropout rate of the activations.")
    attention_probs_dropout_prob: Fraction = Field(0.1, description="Dropout rate of the attention weights.")
    max_position_embeddings: PositiveInt = Field(
        512, description="Maximum sequence length of the position embeddings, in tokens."
    )
    type_vocab_size: NonNegativeInt = Field(0, description="Size of the token type vocabulary.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the initial weights.")
    layer_norm_eps: NonNegativeFloat = Field(1e-12, description="Epsilon of the layer norm, added to the variance.")
    relative_attention: bool = Field(True, description="Use relative position encoding in the attention.")
    max_relative_positions: int = Field(-1, description="Maximum relative position. -1: max_position_embeddings.")
    pad_token_id: int = Field(0, description="ID of the padding token.")
    position_biased_input: bool = Field(False, description="Add position embeddings to the token embeddings.")
    pos_att_type: list[str] = Field(["p2c", "c2p"], description="Types of relative position attention.")
    pooler_hidden_size: PositiveInt = Field(1536, description="Hidden size of the pooling layer.")
    pooler_dropout: Fraction = Field(0.0, description="Dropout rate of the pooling layer.")
    pooler_hidden_act: Literal["gelu", "relu", "silu", "tanh", "gelu_fast", "mish", "linear", "sigmoid", "gelu_new"] = (
        Field("gelu", description="Activation function of the pooling layer.")
    )
    position_buckets: PositiveInt = Field(256, description="Number of buckets of relative positions.")
    share_att_key: bool = Field(True, description="Share the projection of positions and contents.")
    norm_rel_ebd: Literal["layer_norm", "none"] = Field(
        "layer_norm", description="Normalization of the relative position embeddings."
    )


class DistilBERTEncoder(PretrainedEncoder):
    """DistilBERT."""

    type: Literal["distilbert"] = Field("distilbert", description="DistilBERT.")
    pretrained_model_name_or_path: PretrainedName = "distilbert-base-uncased"
    vocab_size: VocabSize = 30522
    dropout: Fraction = Field(0.1, description="Dropout rate of the activations.")
    max_position_embeddings: PositiveInt = Field(
        512, description="Maximum sequence length of the position embeddings, in tokens."
    )
    sinusoidal_pos_embds: bool = Field(False, description="Use sinusoidal instead of learned position embeddings.")
    n_layers: PositiveInt = Field(6, description="Number of transformer blocks.")
    n_heads: PositiveInt = Field(12, description="Number of attention heads.")
    dim: PositiveInt = Field(768, description="Hidden size of the transformer blocks.")
    hidden_dim: PositiveInt = Field(3072, description="Width of the feed-forward layer of each transformer block.")
    attention_dropout: Fraction = Field(0.1, description="Dropout rate of the attention weights.")
    activation: Literal["gelu", "relu", "silu", "gelu_new"] = Field(
        "gelu", description="Activation function of the feed-forward layers."
    )
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the initial weights.")
    qa_dropout: Fraction = Field(0.1, description="Dropout rate of the question answering head.")
    seq_classif_dropout: Fraction = Field(0.2, description="Dropout rate of the classification head.")


class ELECTRAEncoder(PretrainedEncoder):
    """ELECTRA."""

    type: Literal["electra"] = Field("electra", description="ELECTRA.")
    pretrained_model_name_or_path: PretrainedName = "google/electra-small-discriminator"
    vocab_size: VocabSize = 30522
    embedding_size: PositiveInt = Field(128, description="Embedding size of the tokens.")
    hidden_size: PositiveInt = Field(256, description="Hidden size of the transformer blocks.")
    num_hidden_layers: PositiveInt = Field(12, description="Number of transformer blocks.")
    num_attention_heads: PositiveInt = Field(4, description="Number of attention heads.")
    intermediate_size: PositiveInt = Field(
        1024, description="Width of the feed-forward layer of each transformer block."
    )
    hidden_act: Literal["gelu", "relu", "silu", "gelu_new"] = Field(
        "gelu", description="Activation function of the feed-forward layers."
    )
    hidden_dropout_prob: Fraction = Field(0.1, description="Dropout rate of the activations.")
    attention_probs_dropout_prob: Fraction = Field(0.1, description="Dropout rate of the attention weights.")
    max_position_embeddings: PositiveInt = Field(
        512, description="Maximum sequence length of the position embeddings, in tokens."
    )
    type_vocab_size: PositiveInt = Field(2, description="Size of the token type vocabulary.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the initial weights.")
    layer_norm_eps: NonNegativeFloat = Field(1e-12, description="Epsilon of the layer norm, added to the variance.")
    position_embedding_type: Literal["absolute", "relative_key", "relative_key_query"] = Field(
        "absolute", description="Type of the position embeddings."
    )
    classifier_dropout: Fraction | None = Field(
        None, description="Dropout rate of the classifier head. null: the model's default."
    )


class LongformerEncoder(PretrainedEncoder):
    """Longformer, for long texts."""

    type: Literal["longformer"] = Field("longformer", description="Longformer, for long texts.")
    pretrained_model_name_or_path: PretrainedName = "allenai/longformer-base-4096"
    reduce_output: ReducePretrained = "cls_pooled"
    vocab_size: VocabSize = 50265
    attention_window: Annotated[
        int | list[int],
        ByKind("a whole number of at least 1, or a list of them", number=PositiveInt, items=list[PositiveInt]),
    ] = Field(512, description="Size of the attention window in tokens: one value, or one for each block.")
    sep_token_id: int = Field(2, description="ID of the separator token.")
    max_position_embeddings: PositiveInt = Field(
        4098, description="Maximum sequence length of the position embeddings, in tokens."
    )
    type_vocab_size: PositiveInt = Field(1, description="Size of the token type vocabulary.")


class RoBERTaEncoder(PretrainedEncoder):
    """RoBERTa."""

    type: Literal["roberta"] = Field("roberta", description="RoBERTa.")
    pretrained_model_name_or_path: PretrainedName = "roberta-base"
    reduce_output: ReducePretrained = "cls_pooled"
    pad_token_id: int = Field(1, description="ID of the padding token.")
    bos_token_id: int = Field(0, description="ID of the beginning-of-sequence token.")
    eos_token_id: int = Field(2, description="ID of the end-of-sequence token.")


class XLMRoBERTaEncoder(PretrainedEncoder):
    """XLM-RoBERTa, for many languages."""

    type: Literal["xlmroberta"] = Field("xlmroberta", description="XLM-RoBERTa, for many languages.")
    pretrained_model_name_or_path: PretrainedName = "xlm-roberta-base"
    reduce_output: ReducePretrained = "cls_pooled"
    pad_token_id: int = Field(1, description="ID of the padding token.")
    bos_token_id: int = Field(0, description="ID of the beginning-of-sequence token.")
    eos_token_id: int = Field(2, description="ID of the end-of-sequence token.")
    max_position_embeddings: PositiveInt = Field(
        514, description="Maximum sequence length of the position embeddings, in tokens."
    )
    type_vocab_size: PositiveInt = Field(1, description="Size of the token type vocabulary.")
    add_pooling_layer: bool = Field(True, description="Add a pooling layer on the first token.")
