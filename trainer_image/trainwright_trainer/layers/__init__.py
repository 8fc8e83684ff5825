"""The layers of encoders, combiners and decoders. Nothing here depends on features or on the config of a model."""
