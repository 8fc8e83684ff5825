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
    emb_dim: PositiveInt = Field(2048, description="Embedding size of the tokens and hidden size of the blocks.")
    n_layers: PositiveInt = Field(12, description="Number of transformer blocks.")
    n_heads: PositiveInt = Field(16, description="Number of attention heads.")
    dropout: Fraction = Field(0.1, description="Dropout rate of the activations.")
    attention_dropout: Fraction = Field(0.1, description="Dropout rate of the attention weights.")
    gelu_activation: bool = Field(True, description="Use gelu instead of relu.")
    sinusoidal_embeddings: bool = Field(False, description="Use sinusoidal instead of learned position embeddings.")
    causal: bool = Field(False, description="Use causal attention.")
    asm: bool = Field(False, description="Use the adaptive softmax.")
    n_langs: PositiveInt = Field(1, description="Number of languages.")
    use_lang_emb: bool = Field(True, description="Use language embeddings.")
    max_position_embeddings: PositiveInt = Field(
        512, description="Maximum sequence length of the position embeddings, in tokens."
    )
    embed_init_std: NonNegativeFloat = Field(2048**-0.5, description="Standard deviation of the initial embeddings.")
    layer_norm_eps: NonNegativeFloat = Field(1e-12, description="Epsilon of the layer norm, added to the variance.")
    init_std: NonNegativeFloat = Field(0.02, description="Standard deviation of the initial weights.")
    bos_index: NonNegativeInt = Field(0, description="ID of the beginning-of-sequence token.")
    eos_index: NonNegativeInt = Field(1, description="ID of the end-of-sequence token.")
    pad_index: NonNegativeInt = Field(2, description="ID of the padding token.")
    unk_index: NonNegativeInt = Field(3, description="ID of the unknown token.")
    mask_index: NonNegativeInt = Field(5, description="ID of the mask token.")
    is_encoder: bool = Field(True, description="The model is an encoder.")
    start_n_top: PositiveInt = Field(5, description="Number of start positions that the beam search keeps.")
    end_n_top: PositiveInt = Field(5, description="Number of end positions that the beam search keeps.")
    mask_token_id: int = Field(0, description="ID of the mask token in generation.")
    lang_id: int = Field(0, description="ID of the language in generation.")
    pad_token_id: int = Field(2, description="ID of the padding token.")
    bos_token_id: int = Field(0, description="ID of the beginning-of-sequence token.")


class FlauBERTEncoder(PretrainedEncoder):
    """FlauBERT, for French."""

    type: Literal["flaubert"] = Field("flaubert", description="FlauBERT, for French.")
    pretrained_model_name_or_path: PretrainedName = "flaubert/flaubert_small_cased"
    vocab_size: VocabSize = 30145
    pre_norm: bool = Field(True, description="Apply the layer norm before instead of after each block.")
    layerdrop: Fraction = Field(0.2, description="Probability of dropping a block during training (LayerDrop).")
    emb_dim: PositiveInt = Field(512, description="Embedding size of the tokens and hidden size of the blocks.")
    n_layers: PositiveInt = Field(6, description="Number of transformer blocks.")
    n_heads: PositiveInt = Field(8, description="Number of attention heads.")
    dropout: Fraction = Field(0.1, description="Dropout rate of the activations.")
    attention_dropout: Fraction = Field(0.1, description="Dropout rate of the attention weights.")
    gelu_activation: bool = Field(True, description="Use gelu instead of relu.")
    sinusoidal_embeddings: bool = Field(False, description="Use sinusoidal instead of learned position embeddings.")
    causal: bool = Field(False, description="Use causal attention.")
    asm: bool = Field(False, description="Use the adaptive softmax.")
    n_langs: PositiveInt = Field(1, description="Number of languages.")
    use_lang_emb: bool = Field(True, description="Use language embeddings.")
    max_position_embeddings: PositiveInt = Field(
        512, description="Maximum sequence length of the position embeddings, in tokens."
    )
    embed_init_std: NonNegativeFloat = Field(2048**-0.5, description="Standard deviation of the initial embeddings.")
    init_std: NonNegativeFloat = Field(0.02, description="Standard deviation of the initial weights.")
    layer_norm_eps: NonNegativeFloat = Field(1e-06, description="Epsilon of the layer norm, added to the variance.")
    bos_index: NonNegativeInt = Field(0, description="ID of the beginning-of-sequence token.")
    eos_index: NonNegativeInt = Field(1, description="ID of the end-of-sequence token.")
    pad_index: NonNegativeInt = Field(2, description="ID of the padding token.")
    unk_index: NonNegativeInt = Field(3, description="ID of the unknown token.")
    mask_index: NonNegativeInt = Field(5, description="ID of the mask token.")
    is_encoder: bool = Field(True, description="The model is an encoder.")
    mask_token_id: int = Field(0, description="ID of the mask token in generation.")
    lang_id: int = Field(0, description="ID of the language in generation.")
