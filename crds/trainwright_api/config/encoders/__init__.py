"""The table of the encoders: the names for each feature type, and the module of each."""

from __future__ import annotations

from trainwright_api.config.encoders.base import Encoder
from trainwright_api.config.encoders.category import (
    CategoryDenseEncoder,
    CategoryOneHotEncoder,
    CategoryPassthroughEncoder,
    CategorySparseEncoder,
)
from trainwright_api.config.encoders.date import DateEmbedEncoder, DateWaveEncoder
from trainwright_api.config.encoders.dense import DenseEncoder, PassthroughEncoder
from trainwright_api.schema.choice import Choice, Table

_DENSE = {"passthrough": "dense.PassthroughEncoder", "dense": "dense.DenseEncoder"}
_SERIES = {
    "parallel_cnn": "sequence_cnn.ParallelCNNEncoder",
    "stacked_cnn": "sequence_cnn.StackedCNNEncoder",
    "stacked_parallel_cnn": "sequence_cnn.StackedParallelCNNEncoder",
    "rnn": "sequence_rnn.StackedRNNEncoder",
    "cnnrnn": "sequence_rnn.StackedCNNRNNEncoder",
}
_TRANSFORMER = {"transformer": "sequence.StackedTransformerEncoder"}
_PASSTHROUGH = {"passthrough": "sequence.SequencePassthroughEncoder"}
_SEQUENCE = {**_PASSTHROUGH, "embed": "sequence.SequenceEmbedEncoder", **_SERIES, **_TRANSFORMER}

ENCODERS: dict[str, Table] = {
    "number": _DENSE,
    "binary": _DENSE,
    "vector": _DENSE,
    "category": {
        "passthrough": "category.CategoryPassthroughEncoder",
        "dense": "category.CategoryDenseEncoder",
        "sparse": "category.CategorySparseEncoder",
        "onehot": "category.CategoryOneHotEncoder",
    },
    "date": {"embed": "date.DateEmbedEncoder", "wave": "date.DateWaveEncoder"},
    "bag": {"embed": "bag.BagEmbedEncoder"},
    "set": {"embed": "bag.SetEmbedEncoder"},
    "h3": {
        "embed": "h3.H3EmbedEncoder",
        "weighted_sum": "h3.H3WeightedSumEncoder",
        "rnn": "h3.H3RNNEncoder",
    },
    "audio": _SERIES,
    "sequence": _SEQUENCE,
    "timeseries": {
        **_PASSTHROUGH,
        **_SERIES,
        **_TRANSFORMER,
        "dense": "dense.DenseEncoder",
    },
    "text": {
        **_SEQUENCE,
        "auto_transformer": "text.AutoTransformerEncoder",
        "tf_idf": "text.TfIdfEncoder",
        "llm": "text_llm.LLMEncoder",
        "albert": "text_bert.ALBERTEncoder",
        "bert": "text_bert.BERTEncoder",
        "camembert": "text_bert.CamemBERTEncoder",
        "deberta": "text_bert.DebertaV2Encoder",
        "distilbert": "text_bert.DistilBERTEncoder",
        "electra": "text_bert.ELECTRAEncoder",
        "longformer": "text_bert.LongformerEncoder",
        "roberta": "text_bert.RoBERTaEncoder",
        "xlmroberta": "text_bert.XLMRoBERTaEncoder",
        "ctrl": "text_gpt.CTRLEncoder",
        "gpt": "text_gpt.GPTEncoder",
        "gpt2": "text_gpt.GPT2Encoder",
        "transformer_xl": "text_gpt.TransformerXLEncoder",
        "xlnet": "text_gpt.XLNetEncoder",
        "flaubert": "text_xlm.FlauBERTEncoder",
        "mt5": "text_t5.MT5Encoder",
        "t5": "text_t5.T5Encoder",
        "xlm": "text_xlm.XLMEncoder",
    },
    "image": {
        "stacked_cnn": "image.Stacked2DCNNEncoder",
        "_resnet_legacy": "image.LegacyResNetEncoder",
        "mlp_mixer": "image.MLPMixerEncoder",
        "_vit_legacy": "image.LegacyViTEncoder",
        "unet": "image.UNetEncoder",
        "alexnet": "torchvision.AlexNetEncoder",
        "convnext": "torchvision.ConvNeXtEncoder",
        "densenet": "torchvision.DenseNetEncoder",
        "efficientnet": "torchvision.EfficientNetEncoder",
        "googlenet": "torchvision.GoogLeNetEncoder",
        "inceptionv3": "torchvision.InceptionV3Encoder",
        "maxvit": "torchvision.MaxVitEncoder",
        "mnasnet": "torchvision.MNASNetEncoder",
        "mobilenetv2": "torchvision.MobileNetV2Encoder",
        "mobilenetv3": "torchvision.MobileNetV3Encoder",
        "regnet": "torchvision.RegNetEncoder",
        "resnet": "torchvision.ResNetEncoder",
        "resnext": "torchvision.ResNeXtEncoder",
        "shufflenet_v2": "torchvision.ShuffleNetV2Encoder",
        "squeezenet": "torchvision.SqueezeNetEncoder",
        "swin_transformer": "torchvision.SwinTransformerEncoder",
        "vgg": "torchvision.VGGEncoder",
        "vit": "torchvision.ViTEncoder",
        "wide_resnet": "torchvision.WideResNetEncoder",
        "timm": "timm.TimmEncoder",
        "caformer": "timm.CAFormerEncoder",
        "convformer": "timm.ConvFormerEncoder",
        "poolformer": "timm.PoolFormerEncoder",
        "convnextv2": "timm.ConvNeXtV2Encoder",
    },
}
"""Input type → the encoders that it may have."""

DEFAULT_ENCODERS = {
    "number": "passthrough",
    "binary": "passthrough",
    "category": "dense",
    "vector": "dense",
    "date": "embed",
    "text": "parallel_cnn",
    "sequence": "embed",
    "set": "embed",
    "bag": "embed",
    "h3": "embed",
    "image": "stacked_cnn",
    "audio": "parallel_cnn",
    "timeseries": "parallel_cnn",
}


def encoder_choice(feature_type: str) -> Choice:
    """The choice among the encoders of an input type."""
    noun = f"encoder of a {feature_type} feature"
    return Choice(noun, __name__, ENCODERS[feature_type], DEFAULT_ENCODERS[feature_type])


__all__ = [
    "DEFAULT_ENCODERS",
    "ENCODERS",
    "CategoryDenseEncoder",
    "CategoryOneHotEncoder",
    "CategoryPassthroughEncoder",
    "CategorySparseEncoder",
    "DateEmbedEncoder",
    "DateWaveEncoder",
    "DenseEncoder",
    "Encoder",
    "PassthroughEncoder",
    "encoder_choice",
]
