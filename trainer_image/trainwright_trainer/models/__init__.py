"""From encoded columns to predictions: the model, its logits and their meaning."""
