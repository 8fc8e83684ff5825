"""What encoders, combiners and decoders are made of. Nothing here knows features or configs of a whole model."""
