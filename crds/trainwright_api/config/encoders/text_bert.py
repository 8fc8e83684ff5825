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
    embedding_size: PositiveInt = Field(128, description="Width of the token vectors.")
    hidden_size: PositiveInt = Field(768, description="Width of the blocks.")
    num_hidden_layers: PositiveInt = Field(12, description="Number of blocks.")
    num_hidden_groups: PositiveInt = Field(1, description="Number of groups of blocks that share weights.")
    num_attention_heads: PositiveInt = Field(12, description="Number of attention heads.")
    intermediate_size: PositiveInt = Field(3072, description="Width of the fully connected layer of each block.")
    inner_group_num: PositiveInt = Field(1, description="Inner repetitions of each block.")
    hidden_act: Literal["gelu", "relu", "silu", "gelu_new"] = Field(
        "gelu_new", description="Function within the blocks."
    )
    hidden_dropout_prob: Fraction = Field(0.0, description="Share of the activations set to zero while training.")
    attention_probs_dropout_prob: Fraction = Field(
        0.0, description="Share of the attention set to zero while training."
    )
    max_position_embeddings: PositiveInt = Field(512, description="Longest sequence that has positions, in tokens.")
    type_vocab_size: PositiveInt = Field(2, description="Number of kinds of tokens.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the weights at the beginning.")
    layer_norm_eps: NonNegativeFloat = Field(1e-12, description="Added to the variance of the layer norm.")
    classifier_dropout_prob: Fraction = Field(0.1, description="Dropout of the pretraining's classifier.")
    position_embedding_type: Literal["absolute", "relative_key", "relative_key_query"] = Field(
        "absolute", description="How positions enter the attention."
    )
    pad_token_id: int = Field(0, description="Number of the token that pads.")
    bos_token_id: int = Field(2, description="Number of the token that begins a sequence.")
    eos_token_id: int = Field(3, description="Number of the token that ends a sequence.")


class BERTEncoder(PretrainedEncoder):
    """BERT."""

    type: Literal["bert"] = Field("bert", description="BERT.")
    pretrained_model_name_or_path: PretrainedName = "bert-base-uncased"
    reduce_output: ReducePretrained = "cls_pooled"
    vocab_size: VocabSize = 30522
    hidden_size: PositiveInt = Field(768, description="Width of the blocks.")
    num_hidden_layers: PositiveInt = Field(12, description="Number of blocks.")
    num_attention_heads: PositiveInt = Field(12, description="Number of attention heads.")
    intermediate_size: PositiveInt = Field(3072, description="Width of the fully connected layer of each block.")
    hidden_act: Literal["gelu", "relu", "silu", "gelu_new"] = Field("gelu", description="Function within the blocks.")
    hidden_dropout_prob: Fraction = Field(0.1, description="Share of the activations set to zero while training.")
    attention_probs_dropout_prob: Fraction = Field(
        0.1, description="Share of the attention set to zero while training."
    )
    max_position_embeddings: PositiveInt = Field(512, description="Longest sequence that has positions, in tokens.")
    type_vocab_size: PositiveInt = Field(2, description="Number of kinds of tokens.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the weights at the beginning.")
    layer_norm_eps: NonNegativeFloat = Field(1e-12, description="Added to the variance of the layer norm.")
    pad_token_id: int = Field(0, description="Number of the token that pads.")
    gradient_checkpointing: bool = Field(False, description="Compute activations again instead of keeping them.")
    position_embedding_type: Literal["absolute", "relative_key", "relative_key_query"] = Field(
        "absolute", description="How positions enter the attention."
    )
    classifier_dropout: Fraction | None = Field(
        None, description="Dropout of the pretraining's classifier; null for its own."
    )


class CamemBERTEncoder(PretrainedEncoder):
    """CamemBERT, for French."""

    type: Literal["camembert"] = Field("camembert", description="CamemBERT, for French.")
    pretrained_model_name_or_path: PretrainedName = "camembert-base"
    vocab_size: VocabSize = 32005
    hidden_size: PositiveInt = Field(768, description="Width of the blocks.")
    num_hidden_layers: PositiveInt = Field(12, description="Number of blocks.")
    num_attention_heads: PositiveInt = Field(12, description="Number of attention heads.")
    intermediate_size: PositiveInt = Field(3072, description="Width of the fully connected layer of each block.")
    hidden_act: Literal["gelu", "relu", "silu", "gelu_new"] = Field("gelu", description="Function within the blocks.")
    hidden_dropout_prob: Fraction = Field(0.1, description="Share of the activations set to zero while training.")
    attention_probs_dropout_prob: Fraction = Field(
        0.1, description="Share of the attention set to zero while training."
    )
    max_position_embeddings: PositiveInt = Field(514, description="Longest sequence that has positions, in tokens.")
    type_vocab_size: PositiveInt = Field(1, description="Number of kinds of tokens.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the weights at the beginning.")
    layer_norm_eps: NonNegativeFloat = Field(1e-05, description="Added to the variance of the layer norm.")
    pad_token_id: int = Field(1, description="Number of the token that pads.")
    gradient_checkpointing: bool = Field(False, description="Compute activations again instead of keeping them.")
    position_embedding_type: Literal["absolute", "relative_key", "relative_key_query"] = Field(
        "absolute", description="How positions enter the attention."
    )
    classifier_dropout: Fraction | None = Field(
        None, description="Dropout of the pretraining's classifier; null for its own."
    )


class DebertaV2Encoder(PretrainedEncoder):
    """DeBERTa, version 2 or 3."""

    type: Literal["deberta"] = Field("deberta", description="DeBERTa, version 2 or 3.")
    pretrained_model_name_or_path: PretrainedName = "sileod/deberta-v3-base-tasksource-nli"
    hidden_size: PositiveInt = Field(1536, description="Width of the blocks.")
    num_hidden_layers: PositiveInt = Field(24, description="Number of blocks.")
    num_attention_heads: PositiveInt = Field(24, description="Number of attention heads.")
    intermediate_size: PositiveInt = Field(6144, description="Width of the fully connected layer of each block.")
    hidden_act: Literal["gelu", "relu", "silu", "tanh", "gelu_fast", "mish", "linear", "sigmoid", "gelu_new"] = Field(
        "gelu", description="Function within the blocks."
    )
    hidden_dropout_prob: Fraction = Field(0.1, description="Share of the activations set to zero while training.")
    attention_probs_dropout_prob: Fraction = Field(
        0.1, description="Share of the attention set to zero while training."
    )
    max_position_embeddings: PositiveInt = Field(512, description="Longest sequence that has positions, in tokens.")
    type_vocab_size: NonNegativeInt = Field(0, description="Number of kinds of tokens.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the weights at the beginning.")
    layer_norm_eps: NonNegativeFloat = Field(1e-12, description="Added to the variance of the layer norm.")
    relative_attention: bool = Field(True, description="Whether attention looks at distances.")
    max_relative_positions: int = Field(
        -1, description="Greatest distance that is told apart; -1 for max_position_embeddings."
    )
    pad_token_id: int = Field(0, description="Number of the token that pads.")
    position_biased_input: bool = Field(False, description="Whether positions are added to the token vectors.")
    pos_att_type: list[str] = Field(["p2c", "c2p"], description="Which of position and content look at each other.")
    pooler_hidden_size: PositiveInt = Field(1536, description="Width of the pooling layer.")
    pooler_dropout: Fraction = Field(0.0, description="Dropout of the pooling layer.")
    pooler_hidden_act: Literal["gelu", "relu", "silu", "tanh", "gelu_fast", "mish", "linear", "sigmoid", "gelu_new"] = (
        Field("gelu", description="Function after the pooling layer.")
    )
    position_buckets: PositiveInt = Field(256, description="Number of distances that the attention tells apart.")
    share_att_key: bool = Field(True, description="Whether positions and contents share a projection.")
    norm_rel_ebd: Literal["layer_norm", "none"] = Field(
        "layer_norm", description="Normalisation of the position vectors."
    )


class DistilBERTEncoder(PretrainedEncoder):
    """DistilBERT."""

    type: Literal["distilbert"] = Field("distilbert", description="DistilBERT.")
    pretrained_model_name_or_path: PretrainedName = "distilbert-base-uncased"
    vocab_size: VocabSize = 30522
    dropout: Fraction = Field(0.1, description="Share of the activations set to zero while training.")
    max_position_embeddings: PositiveInt = Field(512, description="Longest sequence that has positions, in tokens.")
    sinusoidal_pos_embds: bool = Field(False, description="Whether positions are waves rather than learnt.")
    n_layers: PositiveInt = Field(6, description="Number of blocks.")
    n_heads: PositiveInt = Field(12, description="Number of attention heads.")
    dim: PositiveInt = Field(768, description="Width of the blocks.")
    hidden_dim: PositiveInt = Field(3072, description="Width of the fully connected layer of each block.")
    attention_dropout: Fraction = Field(0.1, description="Share of the attention set to zero while training.")
    activation: Literal["gelu", "relu", "silu", "gelu_new"] = Field("gelu", description="Function within the blocks.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the weights at the beginning.")
    qa_dropout: Fraction = Field(0.1, description="Dropout of the question answering head.")
    seq_classif_dropout: Fraction = Field(0.2, description="Dropout of the classification head.")


class ELECTRAEncoder(PretrainedEncoder):
    """ELECTRA."""

    type: Literal["electra"] = Field("electra", description="ELECTRA.")
    pretrained_model_name_or_path: PretrainedName = "google/electra-small-discriminator"
    vocab_size: VocabSize = 30522
    embedding_size: PositiveInt = Field(128, description="Width of the token vectors.")
    hidden_size: PositiveInt = Field(256, description="Width of the blocks.")
    num_hidden_layers: PositiveInt = Field(12, description="Number of blocks.")
    num_attention_heads: PositiveInt = Field(4, description="Number of attention heads.")
    intermediate_size: PositiveInt = Field(1024, description="Width of the fully connected layer of each block.")
    hidden_act: Literal["gelu", "relu", "silu", "gelu_new"] = Field("gelu", description="Function within the blocks.")
    hidden_dropout_prob: Fraction = Field(0.1, description="Share of the activations set to zero while training.")
    attention_probs_dropout_prob: Fraction = Field(
        0.1, description="Share of the attention set to zero while training."
    )
    max_position_embeddings: PositiveInt = Field(512, description="Longest sequence that has positions, in tokens.")
    type_vocab_size: PositiveInt = Field(2, description="Number of kinds of tokens.")
    initializer_range: NonNegativeFloat = Field(0.02, description="Standard deviation of the weights at the beginning.")
    layer_norm_eps: NonNegativeFloat = Field(1e-12, description="Added to the variance of the layer norm.")
    position_embedding_type: Literal["absolute", "relative_key", "relative_key_query"] = Field(
        "absolute", description="How positions enter the attention."
    )
    classifier_dropout: Fraction | None = Field(
        None, description="Dropout of the pretraining's classifier; null for its own."
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
    ] = Field(512, description="Tokens that a token sees, for all blocks or one by one.")
    sep_token_id: int = Field(2, description="Number of the token that separates.")
    max_position_embeddings: PositiveInt = Field(4098, description="Longest sequence that has positions, in tokens.")
    type_vocab_size: PositiveInt = Field(1, description="Number of kinds of tokens.")


class RoBERTaEncoder(PretrainedEncoder):
    """RoBERTa."""

    type: Literal["roberta"] = Field("roberta", description="RoBERTa.")
    pretrained_model_name_or_path: PretrainedName = "roberta-base"
    reduce_output: ReducePretrained = "cls_pooled"
    pad_token_id: int = Field(1, description="Number of the token that pads.")
    bos_token_id: int = Field(0, description="Number of the token that begins a sequence.")
    eos_token_id: int = Field(2, description="Number of the token that ends a sequence.")


class XLMRoBERTaEncoder(PretrainedEncoder):
    """XLM-RoBERTa, for many languages."""

    type: Literal["xlmroberta"] = Field("xlmroberta", description="XLM-RoBERTa, for many languages.")
    pretrained_model_name_or_path: PretrainedName = "xlm-roberta-base"
    reduce_output: ReducePretrained = "cls_pooled"
    pad_token_id: int = Field(1, description="Number of the token that pads.")
    bos_token_id: int = Field(0, description="Number of the token that begins a sequence.")
    eos_token_id: int = Field(2, description="Number of the token that ends a sequence.")
    max_position_embeddings: PositiveInt = Field(514, description="Longest sequence that has positions, in tokens.")
    type_vocab_size: PositiveInt = Field(1, description="Number of kinds of tokens.")
    add_pooling_layer: bool = Field(True, description="Whether a layer pools the first token.")
