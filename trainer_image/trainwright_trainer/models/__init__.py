"""The model, its logits, and their conversion to predictions."""
