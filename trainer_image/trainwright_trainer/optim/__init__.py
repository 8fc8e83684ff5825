"""How gradients become steps: optimizers, learning rates, plateaus, clipping. Nothing here knows of files or ranks."""
