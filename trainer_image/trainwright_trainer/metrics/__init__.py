"""Metrics: small mergeable states, one file for each type of output."""

from __future__ import annotations

from trainwright_trainer.metrics.model import ModelMetrics, model_metrics

__all__ = ["ModelMetrics", "model_metrics"]
