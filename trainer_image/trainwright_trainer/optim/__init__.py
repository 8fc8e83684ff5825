"""Optimizers, learning-rate schedules, plateaus and gradient clipping. Nothing here depends on files or ranks."""
